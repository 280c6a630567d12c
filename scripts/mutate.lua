-- SPDX-License-Identifier: MIT
-- mutate.lua FILE FILTER [COUNT [SEED]]: do tests notice small wrong changes?
-- Changes one comparison, term, index, check or constant of FILE at a time,
-- in a copy of the tree under build/mutants, builds, and runs the tests whose
-- names contain FILTER.  Prints "noticed", "does not build" or "SURVIVES" for
-- each; the survivors are where a test is missing (or the change means the
-- same).  Minutes per ten changes: for the night.  Example:
--   lua5.4 scripts/mutate.lua src/shard/select.c tests/unit/test_prop 20

local path, filter = arg[1], arg[2]
local count, seed = tonumber(arg[3] or 10), tonumber(arg[4] or 1)
if not path or not filter then
  io.stderr:write("usage: mutate.lua FILE FILTER [COUNT [SEED]]\n")
  os.exit(2)
end

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
local lua = path:find("%.lua$")
local changes = {
  {" < ", " <= "}, {" <= ", " < "}, {" > ", " >= "}, {" >= ", " > "},
  {" == ", lua and " ~= " or " != "}, {" != ", " == "}, {" ~= ", " == "},
  {" && ", " || "}, {" || ", " && "}, {" and ", " or "}, {" or ", " and "},
  {" + 1", " + 2"}, {" - 1", ""}, {" + ", " - "}, {" * ", " + "},
  {"true", "false"}, {"false", "true"}, {"[0]", "[1]"}, {"[1]", "[2]"},
  {"(!", "("}, {"not ", ""}, {" = 0", " = 1"}, {" = 1", " = 0"},
}

-- Every place in code where one of the changes fits.
local text = read(path)
local places, at, inside = {}, 1, false
for line in text:gmatch("[^\n]*\n?") do
  local code = line
  if lua then
    code = line:gsub("%-%-.*", "")
  else
    if inside or line:find("^/%*") or line:find("^#") then code = "" end
    if line:find("/*", 1, true) then inside = true end
    if line:find("*/", 1, true) then inside = false end
    code = code:gsub("/%*.*", "")
  end
  for _, c in ipairs(changes) do
    local from = 1
    while true do
      local a, b = code:find(c[1], from, true)
      if not a then break end
      places[#places + 1] = {a = at + a - 1, b = at + b - 1, to = c[2],
        what = ("%s -> %s"):format(c[1], c[2]), line = line}
      from = b + 1
    end
  end
  at = at + #line
end

local root = "build/mutants"
assert(run("mkdir -p " .. root))
assert(run("cp -R Makefile config.mk lua src scripts tests README.md .ci " ..
  root), "cannot copy the tree")
local build = "make -C " .. root .. " -j2 B=build all unit"
local tests = ("cd %s && lua5.4 scripts/run-tests.lua --build build --quick "
  .. "--filter %s"):format(root, filter)
write(root .. "/" .. path, text)
assert(run(build), "the tree does not build without a change")
assert(run(tests .. " --list | grep -q ."), "no test has this name")
assert(run(tests), "the tests fail without a change")

math.randomseed(seed)
local noticed, tried = 0, 0
for _ = 1, math.min(count, #places) do
  local p = table.remove(places, math.random(#places))
  write(root .. "/" .. path, text:sub(1, p.a - 1) .. p.to
    .. text:sub(p.b + 1))
  local verdict = "does not build"
  if run(build) then
    tried = tried + 1
    verdict = run(tests) and "SURVIVES" or "noticed"
    if verdict == "noticed" then noticed = noticed + 1 end
  end
  local _, number = text:sub(1, p.a):gsub("\n", "")
  print(("%-14s %s:%d: %s   %s"):format(verdict, path, number + 1, p.what,
    p.line:match("^%s*(.-)%s*$")))
end
write(root .. "/" .. path, text)
print(("%d of %d noticed"):format(noticed, tried))
