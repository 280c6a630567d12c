-- TEST: ranks={2} world={threads}
-- SPDX-License-Identifier: MIT
-- Who made memory that is read unwritten: not a view of it.

local T = require "tests.lua.lib.check"

local function told(f)
  dt.debug.findings_clear()
  f()
  for _, x in ipairs(dt.debug.findings()) do
    if x.code == "DT1027" then return dt.debug.json(x) end
  end
  return ""
end

T.has(told(function ()
  local m = dt.nn.Linear(4, 4, {device = "meta"})
  m:to_empty{device = "cpu"}
  return m(dt.ones(2, 4))
end), "by aten.empty_like.default", "to_empty() made it")
T.has(told(function ()
  local t = dt.empty(4, 4)
  local turned = t:t()
  return turned + 1
end), "by aten.empty.memory_format", "empty() made it, not t()")
-- What is only written is not read: values=, indices=, out=, of lists, too.
T.eq(told(function ()
  local v, at = dt.empty(4), dt.empty(4, {dtype = dt.int64})
  dt.sort(dt.randn(4), {dim = 0, values = v, indices = at})
  local c = dt.cat({v, v}, {out = dt.empty(8)})
  return c + 1, at + 1
end), "", "out= is written, not read")
T.has(told(function ()
  local v = dt.empty(4)
  return dt.sort(v, {dim = 0, values = dt.empty(4),
    indices = dt.empty(4, {dtype = dt.int64})})
end), "by aten.empty.memory_format", "the input beside out= is read")
T.finish()
