-- SPDX-License-Identifier: MIT
-- bench.lua --build DIR --obj DIR [--filter TEXT]: run the benchmarks, print
-- a table, fail when one is over its budget.
--
-- A benchmark prints lines "name value unit budget".  Budget: a number (value
-- must not exceed it), ">=N" or "-".  Sources: tests/perf/*.lua, run by the
-- program with the options in its line `-- BENCH: -n 4`; the C programs of
-- tests/perf, run directly, `mpi_*` under mpirun -n 4; and start-up times,
-- measured here.  Budgets hold on an otherwise idle machine with two cores.

local opt = {build = "build"}
do
  local i = 1
  while arg[i] do
    opt[arg[i]:match("^%-%-(%w+)$") or "?"] = arg[i + 1]
    i = i + 2
  end
end
local obj = opt.obj or opt.build .. "/obj-release"
local program = opt.build .. "/dtrepl"
local env = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
local mpirun = env .. (os.getenv("MPIRUN") or "mpirun") ..
  " --oversubscribe -n 4 "

local rows, over = {}, 0

local function add(name, value, unit, budget)
  if opt.filter and not name:find(opt.filter, 1, true) then return end
  local verdict = "-"
  local least = tonumber(budget:match("^>=(.+)$"))
  local most = tonumber(budget)
  if least then
    verdict = value >= least and "pass" or "over"
  elseif most then
    verdict = value <= most and "pass" or "over"
  end
  if verdict == "over" then over = over + 1 end
  rows[#rows + 1] = {name, ("%.4g"):format(value), unit, budget, verdict}
end

local function exists(path)
  local f = io.open(path)
  if f then f:close() end
  return f ~= nil
end

local function files(glob)
  local list = {}
  local p = io.popen("ls -d " .. glob .. " 2>/dev/null")
  for path in p:lines() do list[#list + 1] = path end
  p:close()
  return list
end

-- Lines of a benchmark's output into rows; one that fails is over budget.
local function collect(cmd)
  local p = io.popen(cmd .. " 2>&1 </dev/null")
  local other = {}
  for line in p:lines() do
    line = line:gsub("^%[%d+%] ", ""):gsub("^ +", "")  -- one rank of several
    local name, value, unit, budget =
      line:match("^(%S+)%s+([-+%d.eE]+)%s+(%S+)%s+(%S+)%s*$")
    if name and tonumber(value) then
      add(name, tonumber(value), unit, budget)
    else
      other[#other + 1] = line
    end
  end
  if not p:close() then
    rows[#rows + 1] = {cmd, "-", "-", "-", "failed"}
    over = over + 1
    io.stderr:write(table.concat(other, "\n"), "\n")
  end
end

-- Milliseconds of a command: the median of n runs, or nil when it fails.
-- What the shell needs to start any program is taken off.
local function time_of(cmd, n)
  local script = ([[
    for i in $(seq %d); do
      a=$(date +%%s%%N); %s >/dev/null 2>&1 </dev/null || echo fail
      b=$(date +%%s%%N); echo $((b - a))
    done]]):format(n + 1, cmd)
  local p = io.popen("sh -c '" .. script:gsub("'", "'\\''") .. "'")
  local times, failed = {}, false
  for line in p:lines() do
    if line == "fail" then failed = true end
    times[#times + 1] = tonumber(line)
  end
  p:close()
  if failed then return nil end
  table.remove(times, 1)                          -- the first one warms up
  table.sort(times)
  return times[(#times + 1) // 2] / 1e6
end

local base = time_of("true", 21)

local function start_up(name, cmd, n, budget)
  if opt.filter and not name:find(opt.filter, 1, true) then return end
  local t = time_of(cmd, n)
  if t then
    add(name, t - base, "ms", budget)
  else
    rows[#rows + 1] = {name, "-", "ms", budget, "failed"}
    over = over + 1
  end
end

local toy = "lua/examples/toy_mlp.lua"
start_up("startup.threads", program .. ' -n 4 -e ""', 15, "30")
if exists(toy) then
  start_up("founding_b.threads", program .. " -n 4 " .. toy, 11, "100")
end
local empty = obj .. "/perf/mpi_empty"
if exists(opt.build .. "/dtrepl-mpi.so") and exists(empty) then
  local t = time_of(mpirun .. empty, 5)
  if t then
    add("startup.mpirun_empty", t - base, "ms", "-")
    start_up("startup.mpi", mpirun .. program .. ' -e ""', 5,
      ("%.0f"):format(t - base + 50))
    if exists(toy) then
      start_up("founding_b.mpi", mpirun .. program .. " " .. toy, 5,
        ("%.0f"):format(t - base + 100))
    end
  end
end

-- Every public case of propagation, one release after the other.
local prop = {}
for _, folder in ipairs(files("tests/parity/*/prop")) do
  prop[#prop + 1] = ("{ %s parity --show 0 %s || [ $? = 3 ]; }"):format(program,
    table.concat(files(folder .. "/*.jsonl*"), " "))
end
if #prop > 0 then
  local name = "parity.prop_suite"
  if not opt.filter or name:find(opt.filter, 1, true) then
    local t = time_of("(" .. table.concat(prop, " && ") .. ")", 1)
    add(name, (t or math.huge) / 1000, "s", "20")
  end
end

for _, path in ipairs(files("tests/perf/*.lua")) do
  local options = "-n 1"
  for line in io.lines(path) do
    options = line:match("BENCH:%s*(.-)%s*$") or options
    if not line:find("^%-%-") then break end
  end
  collect(program .. " " .. options .. " " .. path)
end
for _, path in ipairs(files(obj .. "/perf/*")) do
  local name = path:match("([%w_]+)$")
  if name and not path:find("%.%w+$") and name ~= "mpi_empty" then
    if name:find("^mpi_") then
      collect(mpirun .. path .. " " .. opt.build)
    else
      collect(path)
    end
  end
end

local width = {}
table.insert(rows, 1, {"benchmark", "value", "unit", "budget", ""})
for _, r in ipairs(rows) do
  for i, cell in ipairs(r) do
    r[i] = cell:sub(1, 90)
    width[i] = math.max(width[i] or 0, #r[i])
  end
end
for _, r in ipairs(rows) do
  print((("%-" .. width[1] .. "s  %" .. width[2] .. "s  %-" .. width[3] ..
    "s  %" .. width[4] .. "s  %s"):format(table.unpack(r))))
end
print(("\n%d benchmarks, %d over budget"):format(#rows - 1, over))
os.exit(over == 0 and 0 or 1)
