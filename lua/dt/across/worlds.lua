-- SPDX-License-Identifier: MIT
-- dt/across/worlds.lua: `dtrepl --compare WORLD,WORLD[,WORLD] [--json] [options]
-- program`: a program in the worlds of threads, of processes and the pretended
-- one, and what differs from the first.
--
-- The fake world has no data: what it printed is not compared, and a program
-- that asks it for data is compared up to there.
--
-- Exit status: 0 nothing differs, 1 the program could not be run, 2 wrong
-- usage, 3 something differs.

local arguments = require "dt.across.arguments"
local compare = require "dt.across.compare"
local read = require "dt.across.read"
local show = require "dt.across.show"

local usage = "usage: dtrepl --compare WORLD,WORLD[,WORLD] [--json] [options] "
  .. "program [args]   (threads, mpi, fake)\n"

local option = {threads = "-n", mpi = "--mpi", fake = "--fake"}

-- The ranks that the options or the program's head ask for; else four.
local function ranks_of(program, rest)
  for i, a in ipairs(rest) do
    if a == program then break end
    if a == "-n" then return rest[i + 1], i, 2 end
    local n = a:match "^%-n(%d+)$"
    if n then return n, i, 1 end
  end
  local f = io.open(program or "", "r")
  for _ = 1, f and 20 or 0 do
    local line = f:read "l"
    local n = line and line:match "^%-?%-?#? ?dtrepl:.*%f[%w]ranks=(%d+)"
    if n then
      f:close()
      return n
    end
  end
  if f then f:close() end
  return "4"
end

-- plan("threads,fake", program, args) -> {{world, its options}}, the arguments
-- without `-n`; nil and why.
local function plan(names, program, args)
  local n, at, len = ranks_of(program, args)
  local list, rest = {}, {}
  for i, a in ipairs(args) do
    if not at or i < at or i >= at + len then rest[#rest + 1] = a end
  end
  for name in (names or ""):gmatch "[^,]+" do
    if not option[name] then
      return nil, "there is no world " .. name .. ": threads, mpi, fake"
    end
    list[#list + 1] = {name, {option[name], n}}
  end
  if #list < 2 then return nil, "wanted two worlds or three" end
  return list, rest
end

local function is_fake(run) return run.release == "fake" end

local function no_data(run)
  return run.error and run.error:find("this tensor has no data", 1, true)
    or run.error and run.error:find("needs data", 1, true)
end

local function first(list, n) return table.move(list, 1, n, 1, {}) end

-- Leave out what only one of the two worlds can have: numbers, and what comes
-- after a question for numbers.
local function prepare(out, a, b)
  for _, pair in ipairs {{a, b}, {b, a}} do
    local fake, other = pair[1], pair[2]
    if is_fake(fake) then
      fake.printed, other.printed = {}, {}
      if no_data(fake) then
        out:write(("fake: %s%s; compared up to there\n"):format(fake.error,
          fake.at and " at " .. fake.at or ""))
        fake.error, other.error = nil, nil
        local n = math.min(#fake.ops, #other.ops)
        fake.ops, other.ops = first(fake.ops, n), first(other.ops, n)
      end
    end
  end
end

-- A record with values of the program in a world: its path.
local function record_of(tool, words, rest)
  local base = os.tmpname()
  local argv = {tool.program(), table.unpack(words)}
  for _, w in ipairs {"-q", "--color", "never", "--no-rc", "--no-history",
    "--record", base .. ".rec", table.unpack(rest)} do
    argv[#argv + 1] = w
  end
  tool.run(argv, "", 24 * 3600)
  os.remove(base)
  return base .. ".rec"
end

-- Numbers: by records, where both worlds have some and nothing else differs.
local function add_values(tool, a, b, rest, list)
  if is_fake(a) or is_fake(b) or #list > 0 then return end
  local x, y = record_of(tool, a.words, rest), record_of(tool, b.words, rest)
  local output = "\n" .. (tool.run({tool.program(), "-q", "--color", "never",
    "--no-rc", "--no-history", "--trust", "--open", x},
    (":diff %s %s\n"):format(x, y), 3600) or "")
  os.remove(x)
  os.remove(y)
  if output:find "\nno difference in" then return end
  local op, at = output:match "\nfirst difference at (%S+)  %S+ #%d+ (%S+:%d+),"
  local details = {}
  for line in output:gmatch "\n  (%a[^\n]*)" do
    details[#details + 1] = line
  end
  list[1] = {at = at or "?", op = op, what = "values", count = 1, "some",
    "others: " .. table.concat(details, "; ")}
end

-- One after the other: a machine may have few cores.
local function run_all(tool, list, rest)
  local runs = {}
  for i, one in ipairs(list) do
    local child, why = read.start(tool, one[1], rest, nil, one[2])
    local run = child
    if child then run, why = read.finish(tool, child) end
    if not run then return nil, why end
    run.words = one[2]
    runs[i] = run
  end
  return runs
end

return function (tool, args)
  local o, args_left = arguments.parse(args, {["--compare"] = "worlds"})
  local list, rest = plan(o.worlds, args_left[o.program], args_left)
  if not list or not o.program then
    io.stderr:write(not list and "dtrepl --compare: " .. rest .. "\n" or "", usage)
    return 2
  end
  local runs, why = run_all(tool, list, rest)
  local a = runs and runs[1]
  if a and a.error and #a.ops == 0 then why = a.error end
  if why then
    io.stderr:write("dtrepl --compare: ", (why:gsub("\n*$", "\n")))
    return 1
  end
  local differs = false
  for i = 2, #runs do
    local b = runs[i]
    prepare(io.stdout, a, b)
    local found, ta, tb = compare.runs(a, b)
    add_values(tool, a, b, rest, found)
    local tell = o.json and show.as_json or show.as_text
    tell(io.stdout, found, a, b, ta, tb)
    differs = differs or #found > 0
  end
  io.stdout:flush()
  return differs and 3 or 0
end
