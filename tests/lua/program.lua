-- TEST: ranks=1 world=threads needs=data args="--trust" timeout=120
-- SPDX-License-Identifier: MIT
-- The program as a whole, run by itself: folded output, exit codes, lines of a
-- megabyte, what a prompt keeps after an error.

local T = require "tests.lua.lib.check"

local program = os.getenv("DTREPL") or "build/dtrepl"
local script, output = os.tmpname(), os.tmpname()

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

-- Run with arguments and stdin; returns stdout, stderr, exit code.
local function run(args, input)
  local f = assert(io.open(script, "w"))
  f:write(input or "")
  f:close()
  local _, _, code = os.execute(("%s --no-history --no-rc %s <%s >%s 2>%s.err")
    :format(quote(program), args, script, output, output))
  local function slurp(name)
    local g = assert(io.open(name, "rb"))
    local s = g:read("a")
    g:close()
    os.remove(name)
    return s
  end
  return slurp(output), slurp(output .. ".err"), code
end

local function out(args, input, want, code, what)
  local got, err, status = run(args, input)
  T.eq(got, want, what)
  T.eq(status, code, what .. ": exit code")
  return err
end

local function folding()
  out("-n 4", "print(7)", "7\n", 0, "equal once")
  out("-n 4", "print(dt.rank())", "[0] 0\n[1] 1\n[2] 2\n[3] 3\n", 0,
    "all different")
  out("-n 4", "print(dt.rank() % 2)", "[0,2] 0\n[1,3] 1\n", 0, "two groups")
  out("-n 4", "print(dt.rank() // 3)", "[0-2] 0\n[3]   1\n", 0, "a range")
  out("-n 4", "if dt.rank() == 2 then print('x') end", "[2] x\n", 0, "one")
  out("-n 3 --raw", "print(7)", "[0] 7\n[1] 7\n[2] 7\n", 0, "--raw")
end

local function codes()
  out("-n 2 -e 'os.exit(3)'", "", "", 3, "os.exit")
  out("-n 2 -e 'os.exit(true)'", "", "", 0, "os.exit(true)")
  out("-n 2 -e 'os.exit(false)'", "", "", 1, "os.exit(false)")
  out("-n 2 -e 'pcall(os.exit, 4) print(1)'", "", "", 4, "os.exit in pcall")
  local err = out("-n 2 -e 'error(\"boom\")'", "", "", 1, "error")
  T.has(err, "boom", "its text")
  err = out("-n 2 -e 'error({})'", "", "", 1, "error with a table")
  T.has(err, "(error object is a table value)", "its text")
  err = out("-n 2 -e 'dt.ones(3'", "", "", 1, "bad Lua")
  T.has(err, "SyntaxError", "its class")
  err = out("-n 2 no/such/script.lua", "", "", 1, "no such script")
  T.has(err, "no/such/script.lua", "its name")
  for _, bad in ipairs {"--bogus", "-n 0", "-n x", "-n 99999",
    "--fake 2000000"} do
    err = out(bad, "", "", 2, bad)
    T.has(err, "usage:", bad .. ": usage")
  end
  out("-n 2 -", "print(1)", "1\n", 0, "- is stdin")
end

local function long_lines()
  local s = ("x"):rep(1 << 20)
  out("-n 2", ("print(#'%s')\n"):format(s), "1048576\n", 0, "1 MB line")
  local err = out("-n 2 -", ("print(%s"):format(s), "", 1, "1 MB of an error")
  T.ok(#err < 4096, "told briefly: " .. #err)
  out("-n 2 -", "print(('ab'):rep(1 << 19):len())", "1048576\n", 0,
    "1 MB string")
end

local SETUP = [[
local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
local x = dt.distribute_tensor(dt.ones(8), mesh, {Shard(0)})
]]

local function prompt_goes_on()
  local got, err = run("-n 4", SETUP .. [[
if dt.rank() == 0 then x:full_tensor() end
x:full_tensor():sum():item()
x + dt.ones(8)
x:full_tensor():sum():item()
dt.zeros(0/0)
nothing.here
1 +
2
]])
  T.eq(got, "8.0\n8.0\n3\n", "lines after errors")
  T.has(err, "DT0502", "the divergence")
  T.has(err, "rank 0: waiting in all_gather", "who waits")
  T.has(err, "ranks 1-3: ended the chunk", "who does not")
  T.has(err, "DT0101", "the mix")
  T.has(err, "argument 'size'", "the size")
  T.has(err, "attempt to index a nil value", "the name")
end

local function sandbox()
  local err = out("--sandbox -n 2 -e 'io.open(\"x\")'", "", "", 1, "no files")
  T.has(err, "DT0008", "sandbox error")
  for _, text in ipairs {"io.open, [[x]]", "dt.zeros, 1 << 29"} do
    out(("--sandbox -n 1 -e 'print(dt.debug.world(1, %q))'")
      :format("return pcall(" .. text .. ")"), "", "true\tfalse\n", 0,
      "a world in the sandbox: " .. text)
  end
  err = out("--sandbox -n 1 -e 'local t = {} while true do "
    .. "t[#t + 1] = (\"x\"):rep(1 << 14):rep(1 << 14) end'", "", "", 1, "memory")
  T.has(err, "memory", "limit of memory")
  err = out("--sandbox -n 1 -e 'dt.zeros(1 << 29)'", "", "", 1,
    "memory of tensors")
  T.has(err, "memory", "limit of tensors")
end

folding()
codes()
long_lines()
prompt_goes_on()
sandbox()
T.finish()
