-- SPDX-License-Identifier: MIT
-- fuzz-files.lua BIN SECONDS [SEED [KIND...]]: mutations of files and prompt
-- sessions, each given to a dtrepl of its own (a build with sanitizers).  What
-- counts as bad: a crash, a leak, undefined behaviour, an internal error, a Lua
-- error inside dtrepl's own library, a run that does not end.  A bad input is
-- kept in the working folder as fuzz-KIND-N; put what was wrong with it into a
-- test with the fix.
--
-- Kinds: prompt lua python record parity diagnose tensors.

local bin, seconds, seed = arg[1], tonumber(arg[2] or 30), tonumber(arg[3] or 1)
if not bin then
  io.stderr:write("usage: fuzz-files.lua BIN SECONDS [SEED [KIND...]]\n")
  os.exit(2)
end

local LIMIT = 120               -- seconds of one run
local state = seed * 2654435761 % 4294967296

local function random(n)
  state = (state * 1664525 + 1013904223) % 4294967296
  return (state >> 8) % n + 1
end

local function pick(list) return list[random(#list)] end

local function read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local s = f:read("a")
  f:close()
  return s
end

local function write(path, s)
  local f = assert(io.open(path, "wb"))
  f:write(s)
  f:close()
end

local function lines_of(command)
  local p, out = assert(io.popen(command)), {}
  for line in p:lines() do out[#out + 1] = line end
  p:close()
  return out
end

-- ---- mutations ----

local words = {"-1", "0", "9223372036854775807", "-9223372036854775808", "1e308",
  "nan", "nil", "None", "((((((((", "]]", "}", "{", "[", "\"", "'", "\\", "\0",
  "\255\254", "\226\128", "S(0)", "P(sum)", "R R R", "->", ",", "=", "[]", "{}",
  ":", "#", "#0", "#-1", "*", "%s", "\n", "\t", ("("):rep(300), ("a"):rep(5000),
  "self", "mesh", "x", "lambda: 0", "dt", "end", "1 << 62", "{1, 2}", "...",
  "true", "null", "e99", ";", "not", "@", "**", "//"}

local function cut(s, a, n) return s:sub(1, a) .. s:sub(a + n + 1) end

local function once(s, other)
  local at, k = random(#s + 1) - 1, random(6)
  if k == 1 then return s:sub(1, at) .. string.char(random(256) - 1) .. s:sub(at + 2) end
  if k == 2 then return cut(s, at, random(12)) end
  if k == 3 then return s:sub(1, at) .. pick(words) .. s:sub(at + 1) end
  if k == 4 then                 -- a word of it turns into another
    local a, b = s:find("[%w_.]+", at + 1)
    local c, d = other:find("[%w_.]+", random(#other + 1))
    if not a then return s end
    return s:sub(1, a - 1) .. (random(2) == 1 and c and other:sub(c, d) or pick(words))
      .. s:sub(b + 1)
  end
  if k == 5 then return s:sub(1, at) .. s:sub(at - random(40), at) .. s:sub(at + 1) end
  return random(8) == 1 and s:sub(1, at) or cut(s, at, 1)
end

-- Text: each line with the same odds, so that most of a file still works.
local function text(s, other)
  local out = {}
  local few = 3 + random(30)
  for line in (s .. "\n"):gmatch("(.-)\n") do
    local n = random(few) == 1 and random(2) or 0
    for _ = 1, n do line = once(line, other) end
    if random(200) > 1 then out[#out + 1] = line end
  end
  return table.concat(out, "\n") .. "\n"
end

local function bytes(s, other)
  for _ = 1, random(8) do
    local at = random(#s + 1) - 1
    if random(3) == 1 then
      s = once(s, other)
    else
      local b = pick {0, 1, 2, 127, 128, 254, 255, random(256) - 1}
      s = s:sub(1, at) .. string.char(b) .. s:sub(at + 2)
    end
  end
  return s
end

-- ---- kinds ----

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir -p " .. dir)

local function sandboxed(file) return ("%s --sandbox %s </dev/null"):format(bin, file) end

-- The session without what would check it.
local function session(s)
  local out, skip = {}, false
  for line in s:gmatch("[^\n]*") do
    if line:find("^:expect") then skip = true
    elseif line:find("^:end") or line:find("^:testcase") then skip = false
    elseif not skip then out[#out + 1] = line end
  end
  return table.concat(out, "\n")
end

-- As base/hash.c has it.
local function mixed(h, v)
  h = h ~ (v + 0x9e3779b97f4a7c15 + (h << 6) + (h >> 2))
  h = (h ~ (h >> 32)) * 0xd6e8feb86659fd93
  return h ~ (h >> 32)
end

local function record_hash(s)
  local h, whole = 0x9e3779b97f4a7c15, #s - #s % 8
  for i = 1, whole, 8 do h = mixed(h, (string.unpack("<i8", s, i))) end
  local rest = s:sub(whole + 1) .. ("\0"):rep(8 - #s % 8)
  return mixed(mixed(h, (string.unpack("<i8", rest))), #s)
end

local ask = [[
:history
:ledger
:mem
:grads
:bt
:why #3
:blame y
:show h
:who h 0 0
:when h
:goto #4
:why
:args
:show h
h
w
:diff
:plan h "R"
:verify
:findings
:report r.md
:export lua r.lua
:export torch r.py
:export html r.html
:export json r.json
:export trace r.trace
:rerun
:back
:whatif w = R
:sweep
]]

local function make_record()
  local script, file = dir .. "/made.lua", dir .. "/made.dtr"
  write(script, [[
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local w = dt.distribute_tensor(dt.randn(4, 4), mesh, "S(0)")
local x = dt.distribute_tensor(dt.randn(4, 4), mesh, "R")
w.requires_grad = true
local h = x:mm(w)
local y = h:relu():sum()
y:backward()
local z = dt.cat({h, x}, 1):redistribute(mesh, "S(1)")
local mask = dt.ones(4, 4)
local bad = h * mask
]])
  os.execute(("%s -n 2 --record %s %s >/dev/null 2>&1 </dev/null"):format(bin, file, script))
  return assert(read(file), "no record was written")
end

-- Parts are mutated, and their hashes follow: only the reader can refuse.
local function record(s)
  local head, n = s:sub(1, 32), string.unpack("<I4", s, 21)
  local rows, parts, at = {}, {}, 32 + 24 * n
  for r = 1, n do
    local from, len = string.unpack("<I8I8", s, 33 + 24 * (r - 1))
    local part = s:sub(from + 1, from + len)
    parts[r] = random(3) > 1 and bytes(part, part) or part
    rows[r] = string.pack("<I8I8i8", at, #parts[r], record_hash(parts[r]))
    at = at + #parts[r]
  end
  return head .. table.concat(rows) .. table.concat(parts)
end

local kinds = {
  prompt = {
    files = "ls tests/repl/*.dt", load = session, change = text,
    run = function (f) return ("%s -n 2 --no-rc --no-history < %s"):format(bin, f) end},
  lua = {files = "ls tests/debug/fixtures/*.lua", change = text, ext = ".lua", run = sandboxed},
  python = {
    files = "ls tests/parity/language/*.py tests/debug/fixtures/*.py tests/parity/bridge/*.py",
    change = text, ext = ".py", run = sandboxed},
  record = {
    make = make_record, change = record, ext = ".dtr",
    run = function (f)
      write(dir .. "/ask", ask)
      return ("%s -n 2 --no-rc --no-history --open %s < %s/ask"):format(bin, f, dir)
    end},
  parity = {
    files = "ls tests/parity/fresh/*.jsonl", change = text, ext = ".jsonl",
    load = function (s)
      local out = {}
      for line in s:gmatch("[^\n]+") do
        if random(20) == 1 then out[#out + 1] = line end
      end
      return table.concat(out, "\n")
    end,
    run = function (f) return ("%s parity %s </dev/null"):format(bin, f) end},
  diagnose = {
    files = "ls tests/diagnose/*.txt", change = text, ext = ".txt",
    run = function (f) return ("%s diagnose --run %s </dev/null"):format(bin, f) end},
  tensors = {
    make = function ()
      local f = dir .. "/made.safetensors"
      write(dir .. "/made.lua", ("dt.save({a = dt.ones(2, 3), b = dt.arange(4)}, %q)"):format(f))
      os.execute(("%s -n 1 --trust %s/made.lua </dev/null"):format(bin, dir))
      return assert(read(f), "no tensors were written")
    end,
    change = bytes, ext = ".safetensors",
    run = function (f)
      write(dir .. "/load.lua", ("for k, t in pairs(dt.load(%q)) do print(k, t) end"):format(f))
      return ("%s -n 1 --trust %s/load.lua </dev/null"):format(bin, dir)
    end},
}

-- ---- runs ----

local function why_bad(out, code)
  if code >= 124 then return code == 124 and "does not end" or "ended by a signal" end
  return out:match("[^\n]*Sanitizer[^\n]*") or out:match("[^\n]*runtime error[^\n]*")
    or out:match("[^\n]*internal error[^\n]*")
    or out:match("[^\n]*dt/[%w_/]+%.lua:%d+: [^\n]*")
    or out:match("[^\n]*stack traceback[^\n]*")
end

local names = {table.unpack(arg, 4)}
if #names == 0 then
  names = {"prompt", "python", "record", "lua", "parity", "diagnose", "tensors"}
end
local bad, runs, seen = 0, 0, {}
local function load_all(kind)
  if kind.pool then return kind.pool end
  kind.pool = {}
  for _, f in ipairs(kind.files and lines_of(kind.files) or {}) do
    kind.pool[#kind.pool + 1] = read(f)
  end
  if kind.make then kind.pool[1] = kind.make() end
  return kind.pool
end

local stop = os.time() + seconds
while os.time() < stop do
  local name = names[runs % #names + 1]
  local kind = assert(kinds[name], name)
  local pool = load_all(kind)
  local from, file = pick(pool), ("%s/input%s"):format(dir, kind.ext or "")
  if kind.load then from = kind.load(from) end
  write(file, kind.change(from, pick(pool)))
  local p = io.popen(("cd %s && timeout -s KILL %d sh -c '%s' 2>&1; echo \"code $?\"")
    :format(dir, LIMIT, kind.run(file)))
  local out = p:read("a")
  p:close()
  runs = runs + 1
  local code = tonumber(out:match("code (%d+)%s*$")) or 1
  local why = why_bad(out, code == 137 and 124 or code)
  local key = why and why:gsub("%d+", "N")
  if why and not seen[key] then
    seen[key] = true
    bad = bad + 1
    local keep = ("fuzz-%s-%d%s"):format(name, bad, kind.ext or "")
    write(keep, read(file))
    write(keep .. ".log", out)
    print(("not ok - %s: %s (%s)"):format(name, why:sub(1, 200), keep))
  end
end
os.execute("rm -rf " .. dir)
print(("seed %d: %d runs, %d bad"):format(seed, runs, bad))
os.exit(bad == 0)
