-- SPDX-License-Identifier: MIT
-- mutate.lua: do tests notice small wrong changes?
--
--   mutate.lua FILE FILTER [COUNT [SEED]]   changes in FILE; the tests whose
--                                           names contain FILTER must notice
--   mutate.lua --draw [COUNT [SEED]]        changes drawn from src and lua; the
--                                           tests of the room, then the quick
--                                           suite must notice
--   mutate.lua --near [COUNT [SEED]]        the same, the room's tests alone
--
-- Changes one comparison, term, index, check or constant at a time, in a copy
-- of the tree under build/mutants, builds, and runs the tests.  Prints
-- "noticed", "does not build" or "SURVIVES" for each; the survivors are where a
-- test is missing, or the change means the same.  For the night: a change that
-- survives the quick suite takes minutes.  Example:
--   lua5.4 scripts/mutate.lua src/shard/select.c tests/unit/test_prop 20

local near = arg[1] == "--near"
local draws = near or arg[1] == "--draw"
local path, filter = arg[1], arg[2]
local count = tonumber(arg[draws and 2 or 3] or 10)
local seed = tonumber(arg[draws and 3 or 4] or 1)
if not path or not draws and not filter or not count or not seed then
  io.stderr:write("usage: mutate.lua FILE FILTER [COUNT [SEED]]\n",
    "       mutate.lua --draw|--near [COUNT [SEED]]\n")
  os.exit(2)
end

local root <const> = "build/mutants"

-- Kinds of tests, the quickest and most general first: the first that notices
-- ends the search.
local kinds <const> = {"lua", "sessions", "findings", "unit", "examples", "ops",
  "parity", "terminal"}

-- The tests of a room, by the beginning of a path: the first row that fits.
local rooms <const> = {
  {"src/base/", "unit/test_base", "lua/errors", "lua/hostile"},
  {"src/compat/", "lua/release_", "unit/test_op", "lua/errors"},
  {"src/tensor/", "unit/test_tensor", "unit/test_kernel", "lua/show"},
  {"src/kernel/", "unit/test_kernel", "ops/values", "unit/test_oplib",
    "ops/grad"},
  {"src/mesh/", "unit/test_mesh", "unit/test_layout", "lua/uneven"},
  {"src/comm/", "unit/test_comm", "unit/test_hosts", "lua/collectives",
    "lua/divergence", "repl/death"},
  {"src/spmd/", "unit/test_spmd", "lua/spmd"},
  {"src/op/", "unit/test_op", "lua/wrong_arguments", "lua/errors",
    "lua/missing"},
  {"src/shard/plan", "unit/test_plan", "lua/uneven"},
  {"src/shard/", "unit/test_prop", "lua/mixed", "lua/explain", "lua/missing"},
  {"src/oplib/", "unit/test_oplib", "ops/values", "ops/grad",
    "lua/wrong_arguments", "lua/functional", "lua/outs", "unit/test_prop",
    "ops/rules"},
  {"src/engine/", "unit/test_engine", "lua/autograd", "lua/byhand",
    "lua/mixed", "lua/memory"},
  {"src/debug/", "unit/test_debug", "lua/debug", "findings/repairs", "repl/ask",
    "repl/debug.dt", "repl/record", "findings/verify", "lua/divergence"},
  {"src/diag/", "findings/"},
  {"src/parity/", "unit/test_parity", "unit/test_suites", "repl/parity"},
  {"src/render/", "repl/export", "lua/trace", "repl/files", "repl/printing"},
  {"src/bind/", "lua/errors", "lua/hostile", "lua/coroutines", "lua/files",
    "lua/names", "lua/debug", "lua/autograd", "lua/collectives", "lua/spmd",
    "repl/replay", "repl/export"},
  {"src/repl/", "repl/shell", "repl/debug.dt", "repl/files", "repl/record",
    "repl/p", "repl/"},
  {"lua/python/", "lua/python", "lua/language", "parity/python", "repl/prints",
    "parity/cpython"},
  {"lua/torch/spmd/", "lua/spmd", "parity/spmd"},
  {"lua/torch/", "lua/python", "repl/prints", "parity/python",
    "parity/programs", "lua/spmd_python"},
  {"lua/parity/", "parity/programs", "parity/styles", "parity/replay",
    "parity/spmd"},
  {"lua/repl/", "repl/slips", "repl/lesson", "repl/"},
  {"lua/dt/debug/", "lua/debug", "findings/tried", "repl/export", "repl/a",
    "repl/"},
  {"lua/dt/diagnose/", "lua/diagnose", "repl/diagnose"},
  {"lua/dt/spmd/", "lua/spmd", "parity/spmd"},
  {"lua/dt/nn/", "lua/nn", "lua/modules", "lua/functional", "lua/ddp",
    "lua/spatial", "repl/prints"},
  {"lua/dt/optim/", "lua/optim", "repl/prints"},
  {"lua/dt/fsdp/", "lua/fsdp", "lua/memory_fsdp"},
  {"lua/dt/checkpoint/", "lua/files", "lua/checkpoint"},
  {"lua/dt/functional/", "lua/functional", "lua/modules"},
  {"lua/dt/", "lua/", "examples"},
}

-- Texts and tables that hold data, not decisions.
local data <const> = {"/templates%.lua$", "/wordings%.lua$", "/ops%.lua$",
  "unicode_table%.lua$", "/signatures%.lua$", "^lua/examples/", "/classes/",
  "/lessons%.lua$", "^lua/repl/help/"}

local function read(name)
  local f = assert(io.open(name, "rb"))
  local s = f:read("a")
  f:close()
  return s
end

local function write(name, text)
  local f = assert(io.open(name, "wb"))
  f:write(text)
  f:close()
end

local function run(cmd) return (os.execute(cmd .. " >/dev/null 2>&1")) end

-- {what is found, what stands there instead}
local function changes(lua)
  return {
    {" < ", " <= "}, {" <= ", " < "}, {" > ", " >= "}, {" >= ", " > "},
    {" == ", lua and " ~= " or " != "}, {" != ", " == "}, {" ~= ", " == "},
    {" && ", " || "}, {" || ", " && "}, {" and ", " or "}, {" or ", " and "},
    {" + 1", " + 2"}, {" - 1", ""}, {" + ", " - "}, {" * ", " + "},
    {"true", "false"}, {"false", "true"}, {"[0]", "[1]"}, {"[1]", "[2]"},
    {"(!", "("}, {"not ", ""}, {" = 0", " = 1"}, {" = 1", " = 0"},
  }
end

-- What of a line is code; `state.inside` is whether a comment of C goes on.
local function code_of(line, lua, state)
  if lua then return (line:gsub("%-%-.*", "")) end
  local code = line
  if state.inside or line:find("^/%*") or line:find("^#") then code = "" end
  if line:find("/*", 1, true) then state.inside = true end
  if line:find("*/", 1, true) then state.inside = false end
  return (code:gsub("/%*.*", ""))
end

-- Add every place in the code of a file where one of the changes fits; the copy
-- is read, since the tree may be edited meanwhile.
local function add_places(places, name)
  local lua = name:find("%.lua$") ~= nil
  local state, at, number = {}, 1, 0
  for line in read(root .. "/" .. name):gmatch("[^\n]*\n?") do
    local code = code_of(line, lua, state)
    number = number + 1
    for _, c in ipairs(changes(lua)) do
      local from = 1
      while true do
        local a, b = code:find(c[1], from, true)
        if not a then break end
        places[#places + 1] = {path = name, a = at + a - 1, b = at + b - 1,
          to = c[2], what = ("%s -> %s"):format(c[1], c[2]), number = number,
          line = line:match("^%s*(.-)%s*$")}
        from = b + 1
      end
    end
    at = at + #line
  end
end

local function holds_data(name)
  for _, pattern in ipairs(data) do
    if name:find(pattern) then return true end
  end
  return false
end

local function all_places()
  local places = {}
  if not draws then
    add_places(places, path)
    return places
  end
  local p = io.popen("find src lua -name '*.c' -o -name '*.lua' | LC_ALL=C sort")
  for name in p:lines() do
    if not holds_data(name) then add_places(places, name) end
  end
  p:close()
  return places
end

local function copy_tree()
  assert(run("mkdir -p " .. root))
  local tree = "Makefile lua src scripts tests README.md .ci"
  if io.open("config.mk") then tree = tree .. " config.mk" end
  assert(run("rm -rf " .. root .. "/src " .. root .. "/lua"))
  assert(run("cp -R " .. tree .. " " .. root), "cannot copy the tree")
end

local function build()
  return run("make -C " .. root .. " -j2 B=build test-programs")
end

-- A mutant may start processes without end: no more of them than the tests
-- need.  The limit does not hold for root, so run this as another user.
local function tests(options)
  return ("cd %s && prlimit --nproc=2000 timeout -k 10 900 lua5.4 "
    .. "scripts/run-tests.lua --build build --quick %s"):format(root, options)
end

-- Options of the runner: the tests for changes in this file.
local function choices(name)
  if not draws then return {"--filter " .. filter} end
  local list = {}
  for _, room in ipairs(rooms) do
    if name:sub(1, #room[1]) == room[1] then
      for i = 2, #room do list[#list + 1] = "--filter tests/" .. room[i] end
      break
    end
  end
  for _, kind in ipairs(near and {} or kinds) do
    list[#list + 1] = "--kind " .. kind
  end
  return list
end

-- The first of the choices with a test that fails; nil without.
local function who_notices(name)
  for _, options in ipairs(choices(name)) do
    if not run(tests(options)) then return options end
  end
end

copy_tree()
assert(build(), "the tree does not build without a change")
if not draws then
  assert(run(tests("--filter " .. filter) .. " --list | grep -q ."),
    "no test has this name")
  assert(not who_notices(path), "the tests fail without a change")
end

math.randomseed(seed)
local places = all_places()
local found, tried, trusted = 0, 0, {}
for _ = 1, math.min(count, #places) do
  local p = table.remove(places, math.random(#places))
  local text = read(root .. "/" .. p.path)
  write(root .. "/" .. p.path, text:sub(1, p.a - 1) .. p.to
    .. text:sub(p.b + 1))
  local verdict = "does not build"
  if build() then
    tried = tried + 1
    local by = who_notices(p.path)
    verdict = by and "noticed by " .. by:match("%S+$") or "SURVIVES"
    if by then
      found = found + 1
      trusted[by] = true
    end
  end
  write(root .. "/" .. p.path, text)
  print(("%-36s %s:%d: %s   %s"):format(verdict, p.path, p.number, p.what,
    p.line))
  io.stdout:flush()
end
print(("%d of %d noticed"):format(found, tried))

-- What failed with a change must pass without one.
assert(build(), "the tree does not build without a change")
for options in pairs(trusted) do
  if not run(tests(options)) then
    print("these fail without a change, too: " .. options)
  end
end
