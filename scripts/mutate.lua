-- SPDX-License-Identifier: MIT
-- mutate.lua: do tests notice small wrong changes?
--
--   mutate.lua FILE [COUNT [SEED]]     changes in FILE
--   mutate.lua --draw [COUNT [SEED [ROOM…]]]
--                                      changes drawn from src and lua, or from
--                                      the files and folders given
--
-- Changes one comparison, term, index, check or constant at a time, in a copy
-- of the tree under build/mutants, builds, and runs those tests of the quick
-- set that reach the changed function (build/cov/reach, which scripts/cover.lua
-- makes), the shortest first, until one fails.  A changed Lua file is not built
-- in: scripts/lua_swap.c puts it in the place of the program's own.  Prints
-- "noticed", "does not build", "unreached" (no test comes there) or "SURVIVES"
-- for each, and a table by room; the survivors are where a test is missing, or
-- the change means the same.  A test that fails is run without the change when
-- it is the first time; should it fail then, too, it is left out and the change
-- is tried by the others.  A change takes as long as the tests it runs, one of C
-- 5 seconds more.  Example:
--   lua5.4 scripts/cover.lua && lua5.4 scripts/mutate.lua src/shard/select.c 20

local draws = arg[1] == "--draw"
local path = arg[1]
local count = tonumber(arg[2] or 10)
local seed = tonumber(arg[3] or 1)
if not path or not count or not seed then
  io.stderr:write("usage: mutate.lua FILE [COUNT [SEED]]\n",
    "       mutate.lua --draw [COUNT [SEED [ROOM...]]]\n")
  os.exit(2)
end

local root <const>, cover <const> = "build/mutants", "build/cov"

-- Milliseconds of tests that are started together: short, so that a change that
-- is noticed costs little; long, so that starting them costs little.
local BATCH <const> = 8000

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

-- The line with the insides of its texts blanked, as long as before.
local function without_texts(line)
  local function blank(text)
    return text:sub(1, 1) .. ("_"):rep(#text - 2) .. text:sub(-1)
  end
  return (line:gsub('\\.', "__"):gsub('"[^"\n]*"', blank)
    :gsub("'[^'\n]*'", blank))
end

-- What of a line is code; `state.inside` is whether a comment of C or a long
-- text of Lua goes on.
local function code_of(line, lua, state)
  local code = without_texts(line)
  local open, close = lua and "[[" or "/*", lua and "]]" or "*/"
  if state.inside or not lua and code:find("^#") then code = "" end
  code = code:gsub(lua and "%-%-.*" or "/%*.*", "")
  if line:find(open, 1, true) then state.inside = true end
  if line:find(close, 1, true) then state.inside = false end
  return code
end

-- Whether what lies between two places is a piece of a longer word.
local function cuts_word(code, a, b)
  return code:find("^[%w_][%w_]", a - 1) ~= nil and a > 1
    or code:find("^[%w_][%w_]", b) ~= nil
end

-- Add every place in the code of a file where one of the changes fits; the copy
-- is read, since the tree may be edited meanwhile.
local function add_places(places, name)
  local lua = name:find("%.lua$") ~= nil
  local state, at, number, inside = {}, 1, 0, false
  for line in read(root .. "/" .. name):gmatch("[^\n]*\n?") do
    local code = code_of(line, lua, state)
    number = number + 1
    if line:find("^}") then
      inside = false
    elseif line:find("%) {%s*$") then
      inside = true
    end
    for _, c in ipairs(changes(lua)) do
      local from = 1
      while true do
        local a, b = code:find(c[1], from, true)
        if not a then break end
        if not cuts_word(code, a, b) then
          places[#places + 1] = {path = name, a = at + a - 1, b = at + b - 1,
            to = c[2], in_function = inside, number = number,
            what = ("%s -> %s"):format(c[1], c[2]),
            line = line:match("^%s*(.-)%s*$")}
        end
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
  local trees = #arg > 3 and table.concat(arg, " ", 4) or "src lua"
  local p = io.popen(("find %s -name '*.c' -o -name '*.lua' | LC_ALL=C sort")
    :format(trees))
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

-- ---- which tests reach a place -----------------------------------------------

-- {[file] = {{first, last, test = name}, …}}, {[test] = milliseconds}
local function read_reach()
  local reach, ms = {}, {}
  for file, first, last, test in read(cover .. "/reach"):gmatch(
      "(%S+) (%d+) (%d+) ([^\n]+)") do
    reach[file] = reach[file] or {}
    table.insert(reach[file], {first = tonumber(first), last = tonumber(last),
      test = test})
  end
  for n, test in read(cover .. "/cases"):gmatch("(%d+) ([^\n]+)") do
    ms[test] = tonumber(n)
  end
  return reach, ms
end

-- First line of the innermost function around a line of a Lua file; 0: none.
local function lua_function(name, line)
  local best = 0
  local p = io.popen(("luac5.4 -l -p %s/%s"):format(root, name))
  for first, last in p:read("a"):gmatch("\nfunction <[^\n]-:(%d+),(%d+)>") do
    first, last = tonumber(first), tonumber(last)
    if first <= line and line <= last then best = math.max(best, first) end
  end
  p:close()
  return best
end

-- Names of the tests that reach a place, the shortest first.  Outside of
-- functions of C: whatever reaches the file.
local function tests_of(reach, ms, p)
  local lua = p.path:find("%.lua$") and lua_function(p.path, p.number)
  local inner, around = {}, {}
  for _, r in ipairs(reach[p.path] or {}) do
    around[r.test] = true
    if r.first == lua or not lua and r.first <= p.number
        and p.number <= r.last then
      inner[r.test] = true
    end
  end
  local list = {}
  local outside = not lua and not p.in_function
  for test in pairs(outside and around or inner) do list[#list + 1] = test end
  table.sort(list, function (a, b)
    if ms[a] ~= ms[b] then return ms[a] < ms[b] end
    return a < b
  end)
  return list
end

-- ---- running -------------------------------------------------------------------

local function build(targets)
  return run(("make -C %s -j2 B=build %s"):format(root, targets))
end

-- The programs that some tests need.
local function targets_of(tests)
  local list = {"all"}
  for _, test in ipairs(tests) do
    local unit = test:match("^tests/unit/(%S+)%.c$")
    if unit then list[#list + 1] = "build/obj-release/unit/" .. unit end
  end
  return table.concat(list, " ")
end

-- What stands before a test's command so that it runs with the changed Lua file
-- (its place in the tree), "" without.
local swap = ""
local function set_swap(name)
  if not name then swap = "" return end
  local module = name:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/", ".")
  if module ~= "dt.init" then module = module:gsub("%.init$", "") end
  local own = module:find("^dt") or module:find("^repl%.")
  swap = ("LD_PRELOAD=$PWD/lua_swap.so DTREPL_SWAP_CHUNK='=[%s%s]' "
    .. "DTREPL_SWAP_FILE=$PWD/%s "):format(own and "" or "dt:", module, name)
end

-- Whether all these tests pass; otherwise the name of one that fails.  A mutant
-- may start processes without end: no more of them than the tests need.  (The
-- limit does not hold for root, so run this as another user.)  None gets more
-- than ten times what the slowest takes in the slow build with counters.
local function pass(tests, ms)
  write(root .. "/only", table.concat(tests, "\n") .. "\n")
  local slowest = ms[tests[#tests]] or 0
  local p = io.popen(("cd %s && %sprlimit --nproc=2000 "
    .. "lua5.4 scripts/run-tests.lua --build build --quick --only only "
    .. "--limit %d 2>&1"):format(root, swap, 10 + slowest // 100))
  local out = p:read("a")
  local ok = p:close()
  return ok, ("\n" .. out):match("\nnot ok %d+ %- ([^\n#]+) # ")
end

-- The name of a test that fails; nil without.
local function who_notices(tests, ms)
  local from = 1
  while from <= #tests do
    local batch, sum = {}, 0
    repeat
      batch[#batch + 1] = tests[from]
      sum = sum + ms[tests[from]]
      from = from + 1
    until not tests[from] or sum + ms[tests[from]] > BATCH
    local ok, by = pass(batch, ms)
    if not ok then return by or batch[1] end
  end
end

-- "src/room" or "lua/room" of a file.
local function room_of(name) return (name:match("^%w+/[^/]+")) end

copy_tree()
assert(build("all"), "the tree does not build without a change")
assert(run(("cc -std=c11 -D_GNU_SOURCE -O2 -shared -fPIC $(pkg-config --cflags "
  .. "lua5.4) -o %s/lua_swap.so scripts/lua_swap.c -ldl"):format(root)))
local reach, ms = read_reach()

local passes = {}              -- whether tests that noticed pass without a change

-- Leave out of a list the tests that fail without a change; what is left.
local function without_failing(tests)
  local list = {}
  for _, test in ipairs(tests) do
    if passes[test] ~= false then list[#list + 1] = test end
  end
  return list
end

-- Put the change in its place, for the tests to run with; false: it does not
-- build.
local function put_change(p, text, tests)
  write(root .. "/" .. p.path, text:sub(1, p.a - 1) .. p.to
    .. text:sub(p.b + 1))
  if not p.path:find("%.lua$") then return build(targets_of(tests)) end
  if not run(("luac5.4 -p %s/%s"):format(root, p.path)) then return false end
  set_swap(p.path)
  return true
end

-- Whether a test passes without a change, whose file's text is given.
local function passes_unchanged(test, p, text)
  set_swap(nil)
  write(root .. "/" .. p.path, text)
  if not p.path:find("%.lua$") then
    assert(build(targets_of{test}), "the tree does not build without a change")
  end
  local ok = pass({test}, ms) == true
  if not ok then print("left out, fails without a change: " .. test) end
  return ok
end

-- Try one change: a verdict and, when noticed, by which test.
local function try(p)
  local text = read(root .. "/" .. p.path)
  local verdict, by
  repeat
    local again = false
    local tests = without_failing(tests_of(reach, ms, p))
    if #tests == 0 then return "unreached" end
    if not put_change(p, text, tests) then
      verdict, by = "does not build", nil
    else
      by = who_notices(tests, ms)
      verdict = by and "noticed" or "SURVIVES"
    end
    if by and passes[by] == nil then
      passes[by] = passes_unchanged(by, p, text)
      again = not passes[by]
    end
  until not again
  set_swap(nil)
  write(root .. "/" .. p.path, text)
  return verdict, by
end

math.randomseed(seed)
local places = all_places()
local rooms = {}
for _ = 1, math.min(count, #places) do
  local p = table.remove(places, math.random(#places))
  local verdict, by = try(p)
  local room = rooms[room_of(p.path)] or {}
  rooms[room_of(p.path)] = room
  room[verdict] = (room[verdict] or 0) + 1
  print(("%-10s %-32s %s:%d: %s   %s"):format(verdict, by or "", p.path,
    p.number, p.what, p.line))
  io.stdout:flush()
end

-- ---- the table -----------------------------------------------------------------

local names, sum = {}, {}
for name in pairs(rooms) do names[#names + 1] = name end
table.sort(names)
local columns <const> = {"noticed", "SURVIVES", "unreached", "does not build"}
print(("%-20s %s"):format("room", table.concat(columns, "  ")))
for _, name in ipairs(names) do
  local cells = {}
  for i, column in ipairs(columns) do
    local n = rooms[name][column] or 0
    sum[column] = (sum[column] or 0) + n
    cells[i] = ("%" .. #column .. "d"):format(n)
  end
  print(("%-20s %s"):format(name, table.concat(cells, "  ")))
end
local missed = (sum.SURVIVES or 0) + (sum.unreached or 0)
print(("%d of %d noticed"):format(sum.noticed or 0, (sum.noticed or 0) + missed))
