-- SPDX-License-Identifier: MIT
-- mutate.lua: do tests notice small wrong changes?
--
--   mutate.lua FILE FILTER [COUNT [SEED]]   changes in FILE; the tests whose
--                                           names contain FILTER must notice
--   mutate.lua --draw [COUNT [SEED]]        changes drawn from src and lua; the
--                                           quick suite must notice
--
-- Changes one comparison, term, index, check or constant at a time, in a copy
-- of the tree under build/mutants, builds, and runs the tests.  Prints
-- "noticed", "does not build" or "SURVIVES" for each; the survivors are where a
-- test is missing, or the change means the same.  For the night: a change that
-- survives the quick suite takes two minutes.  Example:
--   lua5.4 scripts/mutate.lua src/shard/select.c tests/unit/test_prop 20

local draws = arg[1] == "--draw"
local path, filter = arg[1], arg[2]
local count = tonumber(arg[draws and 2 or 3] or 10)
local seed = tonumber(arg[draws and 3 or 4] or 1)
if not path or not draws and not filter or not count or not seed then
  io.stderr:write("usage: mutate.lua FILE FILTER [COUNT [SEED]]\n",
    "       mutate.lua --draw [COUNT [SEED]]\n")
  os.exit(2)
end

local root <const> = "build/mutants"

-- Kinds of tests, the quickest and most general first: the first that notices
-- ends the search.
local kinds <const> = {"lua", "sessions", "findings", "unit", "examples", "ops",
  "parity", "terminal"}

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

-- Add every place in the code of a file where one of the changes fits.
local function add_places(places, name)
  local lua = name:find("%.lua$") ~= nil
  local state, at, number = {}, 1, 0
  for line in read(name):gmatch("[^\n]*\n?") do
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
  return ("cd %s && ulimit -u 2000; timeout -k 10 900 lua5.4 scripts/run-tests.lua --build build "
    .. "--quick %s"):format(root, options)
end

-- Does a test fail?
local function noticed()
  if not draws then return not run(tests("--filter " .. filter)) end
  for _, kind in ipairs(kinds) do
    if not run(tests("--kind " .. kind)) then return kind end
  end
  return false
end

copy_tree()
assert(build(), "the tree does not build without a change")
if not draws then
  assert(run(tests("--filter " .. filter) .. " --list | grep -q ."),
    "no test has this name")
end
assert(not noticed(), "the tests fail without a change")

math.randomseed(seed)
local places = all_places()
local found, tried = 0, 0
for _ = 1, math.min(count, #places) do
  local p = table.remove(places, math.random(#places))
  local text = read(p.path)
  write(root .. "/" .. p.path, text:sub(1, p.a - 1) .. p.to
    .. text:sub(p.b + 1))
  local verdict = "does not build"
  if build() then
    tried = tried + 1
    local by = noticed()
    verdict = by and "noticed" or "SURVIVES"
    if by then found = found + 1 end
  end
  write(root .. "/" .. p.path, text)
  print(("%-14s %s:%d: %s   %s"):format(verdict, p.path, p.number, p.what,
    p.line))
  io.stdout:flush()
end
print(("%d of %d noticed"):format(found, tried))
