-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust
-- The trees of Python texts that the build made are those that the parser
-- makes of the texts, value by value and kind by kind.

local bigint = require "python.bigint"
local parser = require "python.parser"
local T = require "tests.lua.lib.check"

-- Where two trees differ first, or nil; a kind more than equal: 1 is not 1.0.
local function difference(a, b, path)
  if type(a) ~= "table" or type(b) ~= "table" then
    return (a ~= b or math.type(a) ~= math.type(b)) and path or nil
  end
  for k, v in pairs(a) do
    local d = difference(v, b[k], path .. "." .. tostring(k))
    if d then return d end
  end
  for k in pairs(b) do
    if a[k] == nil then return path .. "." .. tostring(k) end
  end
end

local function has_bigint(t)
  if type(t) ~= "table" then return false end
  if bigint.is(t) then return true end
  for _, v in pairs(t) do if has_bigint(v) then return true end end
  return false
end

T.ok(difference({1}, {1.0}, "") and difference({{2}}, {{3}}, "")
  and difference({}, {x = 1}, "") and not difference({1, x = {2}},
    {1, x = {2}}, ""), "trees that differ are told apart")

local found, without = 0, 0
local list = assert(io.popen("find lua -path '*/pylib/*.py' | sort"))
for path in list:lines() do
  local name = "py:" .. path:match("/pylib/(.+)%.py$"):gsub("/", ".")
  local text, tree = dt._library_text(name), dt._library_tree(name)
  local parsed = parser.parse(text)
  found = found + 1
  if tree then
    T.eq(difference(parsed, tree, name), nil, name)
    T.ok(tree ~= dt._library_tree(name), name .. ": a tree of its own")
  else
    without = without + 1
    T.ok(has_bigint(parsed), name .. " has no tree, and nothing that forbids it")
  end
end
list:close()
T.ok(found > 150 and without < 5, "most have one: " .. found - without)
T.eq(dt._library_tree("python.parser"), nil, "Lua's texts have none")
T.eq(dt._library_tree("py:no.such"), nil, "nor has what is not there")
T.finish()
