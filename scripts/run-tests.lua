#!/usr/bin/env lua5.4
-- SPDX-License-Identifier: MIT
-- run-tests.lua: find tests, expand their header into cases, run the cases in
-- parallel, print TAP, failures last with the command to run one again.
--
--   --build DIR     where dtrepl is (build)          --jobs N   at once (2)
--   --obj DIR       where the unit tests are (asked from make)
--   --filter TEXT   only cases whose name contains TEXT
--   --kind LIST     only these kinds: unit,lua,ops,parity,sessions,terminal,
--                   examples,debug,findings
--   --quick         the two-minute set               --full    PyTorch too
--   --testmode      dtrepl is a test build           --list    names only
--   --sanitizer S   its sanitizer: longer limits, no mpi
--   --nightly       tests tagged nightly as well
--   --bless         tests rewrite their expected text (DTREPL_BLESS=1)
--   --summary FILE  write "passed failed skipped" there
--   --only FILE     only the cases whose whole names are lines of FILE
--   --limit N       no test gets more than N seconds
--   --cover DIR     what a case reaches goes to DIR/NAME (scripts/cover.lua),
--                   its NAME and milliseconds to DIR/cases; the short ones
--                   first, and none that stands there
--
-- A header is a comment within the first 12 lines of a test:
--   -- TEST: ranks={1,4} world={threads,mpi,fake} needs=data seeds=3
-- Its keys are described in tests/README.md.  The processes themselves are
-- the business of run-one.sh, started by xargs; this program only plans and
-- counts.

local opt = {build = "build", jobs = "2"}
local flags = {quick = 1, full = 1, testmode = 1, list = 1, bless = 1,
  nightly = 1}
local with_value = {build = 1, obj = 1, jobs = 1, filter = 1, kind = 1,
  sanitizer = 1, summary = 1, only = 1, limit = 1, cover = 1}

local function usage(msg)
  io.stderr:write("run-tests: ", msg, "; see the top of ", arg[0], "\n")
  os.exit(2)
end

do
  local i = 1
  while arg[i] do
    local name = arg[i]:match("^%-%-(%w+)$")
    if not (flags[name] or with_value[name]) then
      usage("unknown argument " .. arg[i])
    end
    if flags[name] then
      opt[name] = true
    else
      i = i + 1
      opt[name] = arg[i] or usage("--" .. name .. " wants a value")
    end
    i = i + 1
  end
end

local function quote(s)
  if s:find("^[%w_./=:@%%+,-]+$") then return s end
  return "'" .. s:gsub("'", "'\\''") .. "'"
end

local function capture(cmd)
  local p = assert(io.popen(cmd))
  local s = p:read("a")
  p:close()
  return (s:gsub("%s+$", ""))
end

local function read_file(path)
  local f = io.open(path, "rb")
  if not f then return "" end
  local s = f:read("a")
  f:close()
  return s
end

local function files(glob)
  local list = {}
  local out = capture("ls -d " .. glob .. " 2>/dev/null")
  for path in out:gmatch("[^\n]+") do list[#list + 1] = path end
  return list
end

local cwd = capture("pwd")
local program = opt.build .. "/dtrepl"
if not opt.obj then
  opt.obj = capture("make -s print-obj B=" .. quote(opt.build) ..
    (opt.testmode and " TESTMODE=1" or "") ..
    (opt.sanitizer and " SANITIZER=" .. opt.sanitizer or ""))
end
local have_mpi = io.open(opt.build .. "/dtrepl-mpi.so") ~= nil
  and not opt.sanitizer

local only
if opt.only then
  only = {}
  for line in read_file(opt.only):gmatch("[^\n]+") do only[line] = true end
end

-- Cases that were measured before: lines "milliseconds name".
local covered = {}
local cover_cases = opt.cover and opt.cover .. "/cases"
if cover_cases then
  for name in read_file(cover_cases):gmatch("%d+ ([^\n]+)") do
    covered[name] = true
  end
end

-- ---- headers -------------------------------------------------------------

local known = {ranks = true, world = true, needs = true, seeds = true,
  timeout = true, expect_exit = true, tags = true, args = true, same = true,
  torch = true}

local function split(s)
  local list = {}
  for word in s:gmatch("[^,%s]+") do list[#list + 1] = word end
  return list
end

local function has(list, word)
  for _, w in ipairs(list) do
    if w == word then return true end
  end
  return false
end

-- The keys of a file's TEST line; nil when it has none.
local function header(path)
  local f = io.open(path, "r")
  if not f then return nil end
  local text
  for _ = 1, 12 do
    local line = f:read("l")
    if not line then break end
    text = line:match("TEST:%s*(.*)$")
    if text then break end
  end
  f:close()
  if not text then return nil end
  local h = {}
  text = text:gsub('([%w_]+)="([^"]*)"', function (k, v)
    h[k] = v
    return ""
  end)
  text = text:gsub("([%w_]+)=(%b{})", function (k, v)
    h[k] = v:sub(2, -2)
    return ""
  end)
  for k, v in text:gmatch("([%w_]+)=(%S+)") do h[k] = v end
  for k in pairs(h) do
    if not known[k] then usage(path .. ": unknown key " .. k) end
  end
  return h
end

-- What a sanitizer has nothing to find in.  A race takes two threads: under the
-- thread sanitizer tests of one rank are left out, unless they start programs
-- of several (tag races), and files that say so (tag one_thread).  Files that
-- ask for texts only (tag plain) reach no code that others do not, too.
local threads_only = opt.sanitizer and opt.sanitizer:find("thread")

local function cannot_find(tags, ranks)
  return opt.sanitizer and has(tags, "plain")
    or threads_only and (has(tags, "one_thread")
      or ranks == "1" and not has(tags, "races"))
end

-- ---- cases ---------------------------------------------------------------

local cases = {}

local function skip_reason(needs, world)
  for _, n in ipairs(needs) do
    if n == "torch" and not opt.full then
      return "needs PyTorch: make test FULL=1"
    elseif n == "testmode" and not opt.testmode then
      return "needs a test build"
    elseif n == "mpi" and not have_mpi then
      return "needs MPI"
    elseif n == "release" and (opt.testmode or opt.sanitizer) then
      return "needs a release build"
    end
  end
  if world == "mpi" and not have_mpi then return "needs MPI" end
  return nil
end

-- The release a test's facts are of: the one its header names, of a test that
-- compares with PyTorch itself the installed one.  nil: the program's default.
local installed
local function release_of(h)
  if h.torch then return h.torch end
  if not opt.full or not has(split(h.needs or ""), "torch") then return nil end
  installed = installed or capture(quote(os.getenv("DTREPL_PYTHON") or "python3")
    .. " -c 'import importlib.metadata as m; print(m.version(\"torch\"))' 2>/dev/null")
  return installed:match("^%d+%.%d+")
end

local function with_release(cmd, h)
  local release = release_of(h)
  return release and "DTREPL_TORCH=" .. release .. " " .. cmd or cmd
end

-- Add one case.  c: name, cmd, timeout, expect, needs, world.
local function add(c)
  if opt.filter and not c.name:find(opt.filter, 1, true) then return end
  if only and not only[c.name] then return end
  if covered[c.name] then return end
  c.skip = skip_reason(c.needs or {}, c.world)
  -- What is cut off says nothing, so the limit is far from what a test takes: on
  -- a busy machine the same test takes eight times as long.
  c.timeout = (c.timeout or 60) * (opt.cover and 10 or 5)
  if opt.limit then c.timeout = math.min(c.timeout, tonumber(opt.limit)) end
  cases[#cases + 1] = c
end

local function wanted(kind)
  return not opt.kind or has(split(opt.kind), kind)
end

local world_args = {
  threads = function (r) return "-n " .. r end,
  mpi = function (r) return "--mpi " .. r end,
  fake = function (r) return "--fake " .. r end,
}

-- In the quick set: no slow test; of each other one the first world and seed
-- and the largest number of ranks, unless tagged quick.
local function thin(h, list)
  if not opt.quick or has(split(h.tags or ""), "quick") then return list end
  return {list[#list]}
end

local function add_case(kind, path, h, world, ranks, seed)
  local words = {world, ranks}
  if seed > 1 then words[3] = "seed " .. seed end
  -- A test compares by itself; a second run of each would cost minutes.
  local cmd = ("DTREPL_ALONE=no %s%s %s %s%s"):format(
    seed > 1 and "DTREPL_SEED=" .. seed .. " " or "", quote(program),
    world_args[world](ranks), h.args and h.args .. " " or "", quote(path))
  add{name = path .. " (" .. table.concat(words, " ") .. ")",
    cmd = with_release(cmd, h),
    kind = kind, world = world, needs = split(h.needs or ""),
    timeout = tonumber(h.timeout), expect = tonumber(h.expect_exit or 0),
    same = h.same and path .. " " .. ranks .. " " .. seed}
end

local function add_lua(kind, path, need_header)
  local h = header(path)
  if not h then
    if need_header then return end
    h = {}
  end
  local tags = split(h.tags or "")
  if opt.quick and has(tags, "slow") then return end
  if has(tags, "nightly") and not opt.nightly then return end
  local worlds = split(h.world or "threads")
  if opt.quick and not has(tags, "quick") then worlds = {worlds[1]} end
  local ranks = thin(h, split(h.ranks or "4"))
  if cannot_find(tags, ranks[#ranks]) then return end
  for _, world in ipairs(worlds) do
    if not world_args[world] then usage(path .. ": no world " .. world) end
    local no_data = world == "fake" and has(split(h.needs or ""), "data")
    for _, r in ipairs(no_data and {} or ranks) do
      for seed = 1, opt.quick and 1 or tonumber(h.seeds or 1) do
        add_case(kind, path, h, world, r, seed)
      end
    end
  end
end

-- Sessions and terminal scripts: one case each.
local function add_file(kind, path, cmd, timeout)
  local h = header(path) or {}
  local tags = split(h.tags or "")
  if opt.quick and (has(tags, "slow") or
      kind == "terminal" and not has(tags, "quick")) then
    return
  end
  if cannot_find(tags) then return end
  add{name = path, cmd = with_release(cmd, h), kind = kind,
    needs = split(h.needs or ""), timeout = tonumber(h.timeout) or timeout,
    terminal = read_file(path):find("/term.inc", 1, true) ~= nil,
    expect = tonumber(h.expect_exit or 0)}
end

local function discover()
  if wanted("unit") then
    for _, src in ipairs(files("tests/unit/test_*.c")) do
      local name = src:match("([^/]+)%.c$")
      if not cannot_find(split((header(src) or {}).tags or "")) then
        add{name = src, kind = "unit", cmd = quote(opt.obj .. "/unit/" .. name),
          timeout = 120, expect = 0, tap = true}
      end
    end
  end
  for _, kind in ipairs{"lua", "ops", "parity", "debug", "findings"} do
    if wanted(kind) then
      for _, path in ipairs(files("tests/" .. kind .. "/*.lua")) do
        add_lua(kind, path, false)
      end
    end
  end
  if wanted("examples") then
    for _, path in ipairs(files("lua/examples/*.lua")) do
      add_lua("examples", path, true)
    end
  end
  if wanted("sessions") then
    for _, path in ipairs(files("tests/repl/*.dt")) do
      local h = header(path) or {}
      local world = world_args[h.world or "threads"](h.ranks or "4")
      add_file("sessions", path, ("%s %s %s--check %s"):format(quote(program),
        world, h.args and h.args .. " " or "", quote(path)))
    end
  end
  if wanted("terminal") then
    for _, path in ipairs(files("tests/repl/*.exp tests/repl/*.sh")) do
      add_file("terminal", path, quote("./" .. path), 120)
    end
  end
end

-- ---- running -------------------------------------------------------------

local dir = cwd .. "/" .. opt.build .. "/test-runs/" ..
  (opt.sanitizer or "plain")
if opt.build:sub(1, 1) == "/" then dir = dir:sub(#cwd + 2) end

-- Environment of every test: nothing of the person's own set-up, root and
-- more ranks than cores allowed, a sanitizer's report told from an error by
-- its exit code.
local function environment()
  local san = "exitcode=99:abort_on_error=0:handle_abort=0"
  local abs = program:sub(1, 1) == "/" and program or cwd .. "/" .. program
  local env = {
    {"DTREPL", abs}, {"DTREPL_BUILD", opt.build}, {"DTREPL_OBJ", opt.obj},
    {"XDG_STATE_HOME", dir .. "/state"}, {"XDG_CONFIG_HOME", dir .. "/config"},
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
    {"ASAN_OPTIONS", san .. ":detect_leaks=1:allocator_may_return_null=1"},
    {"LSAN_OPTIONS", "exitcode=99"},
    {"UBSAN_OPTIONS", "exitcode=99:halt_on_error=1:print_stacktrace=1"},
    {"TSAN_OPTIONS", "exitcode=99:allocator_may_return_null=1:halt_on_error=1:second_deadlock_stack=1"},
    {"LC_ALL", "C.UTF-8"}, {"PYTHONDONTWRITEBYTECODE", "1"},
  }
  if opt.sanitizer then
    env[#env + 1] = {"DTREPL_SANITIZER", opt.sanitizer}
  end
  if opt.quick then env[#env + 1] = {"DTREPL_QUICK", "1"} end
  if opt.bless then env[#env + 1] = {"DTREPL_BLESS", "1"} end
  if opt.full then
    env[#env + 1] = {"DTREPL_PYTHON", os.getenv("DTREPL_PYTHON") or "python3"}
  end
  local out = {}
  for _, kv in ipairs(env) do
    out[#out + 1] = ("export %s=%s"):format(kv[1], quote(kv[2]))
  end
  out[#out + 1] = "unset DTREPL_HISTORY DTREPL_TORCH DT_LUA_PATH NO_COLOR CLICOLOR_FORCE"
  return table.concat(out, "\n") .. "\n"
end

-- The compiler's counters and the calls of Lua functions of one case.
local function cover_environment(c)
  if not opt.cover then return "" end
  local out = quote(opt.cover .. "/" .. c.name:gsub("%W", "_"))
  return ("export GCOV_PREFIX=%s DTREPL_LUA_CALLS=%s.calls LD_PRELOAD=%s\n")
    :format(out, out, quote(opt.cover .. "/lua_calls.so"))
end

local function add_covered(c, ms)
  if not opt.cover then return end
  local f = assert(io.open(cover_cases, "a"))
  f:write(("%d %s\n"):format(ms, c.name))
  f:close()
end

-- TSan of gcc 12 cannot live with much address randomisation.
local prefix = ""
if opt.sanitizer and opt.sanitizer:find("thread") and
   os.execute("setarch -R true 2>/dev/null") then
  prefix = "setarch -R "
end

local total = {passed = 0, failed = 0, skipped = 0}
local failures = {}
local shown = 0

local function report(c, ok, note)
  shown = shown + 1
  print(("%s %d - %s%s"):format(ok and "ok" or "not ok", shown, c.name,
    note and " # " .. note or ""))
end

local function fail(c, why)
  total.failed = total.failed + 1
  failures[#failures + 1] = {case = c, why = why}
  report(c, false, why)
end

-- Numbers a test reports itself: cmocka's TAP, or a last line
-- "N passed, N failed[, N skipped]".
local function own_counts(c, out)
  if c.tap then
    local p, f, s = 0, 0, 0
    for line in out:gmatch("[^\n]+") do
      if line:find("^not ok .*# SKIP") or line:find("^ok .*# SKIP") then
        s = s + 1                       -- cmocka says "not ok" here
      elseif line:find("^ok ") then p = p + 1
      elseif line:find("^not ok ") then f = f + 1 end
    end
    return p, f, s
  end
  local last = out:match("([^\n]*)\n?$")
  local p, f, rest = last:match("^(%d+) passed, (%d+) failed(.*)$")
  if not p then return 0, 0, 0 end
  return tonumber(p), tonumber(f), tonumber(rest:match("(%d+) skipped") or 0)
end

local function finish(c, status, ms)
  local out = read_file(dir .. "/" .. c.id .. ".out")
  c.ms = ms
  add_covered(c, ms)
  if status == "77" then
    total.skipped = total.skipped + 1
    local why = out:match("SKIP:?%s*([^\n]+)") or "not possible here"
    report(c, true, "SKIP " .. why)
    return
  end
  local p, f, s = own_counts(c, out)
  local ok = tonumber(status) == c.expect and f == 0
  total.skipped = total.skipped + s
  if ok then
    total.passed = total.passed + math.max(p, 1)
    report(c, true, ms >= 1000 and ("%.1f s"):format(ms / 1000) or nil)
    c.out = c.same and out
    return
  end
  total.passed = total.passed + p
  total.failed = total.failed + math.max(f - 1, 0)
  local why = ("exit %s, wanted %d"):format(status, c.expect)
  if f > 0 then why = f .. " failed inside" end
  if status == "timeout" then why = "no end in " .. c.timeout .. " s" end
  if status == "left" then why = "processes left behind" end
  if status == "99" then why = "sanitizer report" end
  local n = tonumber(status)
  if n and n > 128 and n < 160 then why = "killed by signal " .. n - 128 end
  fail(c, why)
end

-- The longest first, as their limits say: none of them is left for the end.
local function write_plan(name, list)
  table.sort(list, function (a, b)
    if a.timeout ~= b.timeout then
      return (a.timeout > b.timeout) == not opt.cover
    end
    return tonumber(a.id) < tonumber(b.id)
  end)
  local path = dir .. "/" .. name
  local f = assert(io.open(path, "w"))
  for _, c in ipairs(list) do
    f:write(("%s %s %d\n"):format(dir, c.id, c.timeout))
  end
  f:close()
  return path
end

-- The command that runs a plan, so many at once.  The outer shell stays: were a
-- command killed, xargs would start no more.
local function runs(plan, jobs)
  return ("xargs -r -P %s -L 1 sh -c 'scripts/run-one.sh \"$@\"; exit 0' run "
    .. "< %s"):format(jobs, quote(plan))
end

-- Run all; those at a terminal, which mostly wait, one after another beside the
-- rest.
local function run(list, at_terminal)
  local by_id = {}
  for _, cases_of in ipairs{list, at_terminal} do
    for _, c in ipairs(cases_of) do by_id[c.id] = c end
  end
  local p = assert(io.popen(("(%s & %s & wait)"):format(
    runs(write_plan("plan", list), opt.jobs),
    runs(write_plan("terminals", at_terminal), "1"))))
  for line in p:lines() do
    local id, status, ms = line:match("^(%S+) (%S+) (%d+)$")
    local c = by_id[id]
    if c then
      finish(c, status, tonumber(ms))
      by_id[id] = nil
    end
  end
  p:close()
  for _, c in ipairs(cases) do
    if by_id[c.id] then fail(c, "did not run") end
  end
end

-- Cases of one file that must print the same in every world.
local function compare_same()
  local first = {}
  for _, c in ipairs(cases) do
    if c.out then
      local f = first[c.same]
      if not f then
        first[c.same] = c
      elseif f.out ~= c.out then
        fail({name = c.name .. " prints as " .. f.world, id = c.id,
          cmd = c.cmd, other = f.id}, "output differs from " .. f.world)
      else
        total.passed = total.passed + 1
      end
    end
  end
end

-- Print the last n lines of a text, indented.
local function tail(text, n)
  local lines = {}
  for line in text:gmatch("[^\n]+") do lines[#lines + 1] = line end
  for i = math.max(1, #lines - n + 1), #lines do print("    " .. lines[i]) end
end

local function show_failures()
  for _, f in ipairs(failures) do
    local c = f.case
    print(("\n# FAILED %s: %s"):format(c.name, f.why))
    if c.id then
      if c.other then
        tail(capture(("diff %s/%s.out %s/%s.out | head -20")
          :format(dir, c.other, dir, c.id)), 20)
      else
        local text = read_file(dir .. "/" .. c.id .. ".out")
        if c.tap then         -- what failed, and what cmocka says of it
          local lines = {}
          for line in text:gmatch("[^\n]+") do
            if not line:find("^ok ") then lines[#lines + 1] = line end
          end
          text = table.concat(lines, "\n")
        end
        tail(text, 15)
        tail(read_file(dir .. "/" .. c.id .. ".err"), 15)
      end
    end
    print("# again: " .. (c.cmd or ""))
  end
end

discover()
if opt.list then
  for _, c in ipairs(cases) do print(c.name) end
  os.exit(0)
end
if #cases == 0 and opt.filter then
  usage(("no case that would run has %q in its name"):format(opt.filter))
end

os.execute(("rm -rf %s && mkdir -p %s/state %s/config"):format(quote(dir),
  quote(dir), quote(dir)))
local env = environment()
local list, at_terminal = {}, {}
for i, c in ipairs(cases) do
  c.id = tostring(i)
  if c.skip then
    total.skipped = total.skipped + 1
    report(c, true, "SKIP " .. c.skip)
  else
    local f = assert(io.open(dir .. "/" .. c.id .. ".sh", "w"))
    f:write(env, c.tap and "export CMOCKA_MESSAGE_OUTPUT=TAP\n" or "",
      cover_environment(c))
    local cmd, n = c.cmd, 1
    while n > 0 do                      -- what stands before the program
      cmd, n = cmd:gsub("^([%w_]+=%S+) ", function (setting)
        f:write("export ", setting, "\n")
        return ""
      end)
    end
    f:write("exec ", prefix, cmd, "\n")
    f:close()
    table.insert(c.terminal and at_terminal or list, c)
  end
end
run(list, at_terminal)
compare_same()
print("1.." .. shown)
show_failures()
if opt.summary then
  local f = assert(io.open(opt.summary, "w"))
  f:write(("%d %d %d\n"):format(total.passed, total.failed, total.skipped))
  f:close()
end
print(("\n%d passed, %d failed, %d skipped"):format(total.passed,
  total.failed, total.skipped))
os.exit(total.failed == 0 and 0 or 1)
