-- SPDX-License-Identifier: MIT
-- python/counters.lua: the signs of collections.Counter: what is counted more
-- than zero times stays.

local V = require "python.values"

local M = {}

-- is(v): is it a Counter?
function M.is(v) return V.is_dict(v) and rawget(v, "absent_value") ~= nil end

local function count(d, k) return V.dict_get(d, k) or 0 end

-- The keys of a, then those of b that a has not.
local function keys_of(a, b)
  local out, n = {}, 0
  for k in V.each(a) do
    n = n + 1
    out[n] = k
  end
  for k in V.each(b) do
    if V.dict_get(a, k) == nil then
      n = n + 1
      out[n] = k
    end
  end
  return out, n
end

local SIGNS = {
  ["+"] = function (x, y) return V.binary["+"](x, y) end,
  ["-"] = function (x, y) return V.binary["-"](x, y) end,
  ["&"] = function (x, y) return V.less(x, y) and x or y end,
  ["|"] = function (x, y) return V.less(x, y) and y or x end,
}

-- sign(op, a, b): a op b, or nil where these two have no such sign.
function M.sign(op, a, b)
  local f = SIGNS[op]
  if not (f and M.is(a) and M.is(b)) then return nil end
  local d = V.dict()
  d.shown_as, d.absent_value = a.shown_as, 0
  d.data_class = rawget(a, "data_class")
  local keys, n = keys_of(a, b)
  for i = 1, n do
    local x = f(count(a, keys[i]), count(b, keys[i]))
    if V.less(0, x) then V.dict_set(d, keys[i], x) end
  end
  return d
end

-- unary(op, a): +a or -a, of a Counter.
function M.unary(op, a)
  local none = V.dict()
  none.absent_value, none.shown_as = 0, a.shown_as
  none.data_class = rawget(a, "data_class")
  if op == "-" then return M.sign("-", none, a) end
  return M.sign("+", a, none)
end

-- change(op, a, b): a op= b in place: true, or nil as for sign.
function M.change(op, a, b)
  local f = SIGNS[op]
  if not (f and M.is(a) and M.is(b)) then return nil end
  local keys, n = keys_of(a, b)
  for i = 1, n do
    local x = f(count(a, keys[i]), count(b, keys[i]))
    if V.less(0, x) then V.dict_set(a, keys[i], x)
    elseif V.dict_get(a, keys[i]) ~= nil then V.dict_remove(a, keys[i]) end
  end
  return true
end

-- equal(a, b): is every count the same?  What is not counted is zero.
function M.equal(a, b)
  local keys, n = keys_of(a, b)
  for i = 1, n do
    if V.equal(count(a, keys[i]), count(b, keys[i])) ~= true then return false end
  end
  return true
end

-- within(a, b): is no count of a above that of b?
function M.within(a, b)
  local keys, n = keys_of(a, b)
  for i = 1, n do
    if V.less(count(b, keys[i]), count(a, keys[i])) then return false end
  end
  return true
end

-- ordered(name, a, b): a < b (name "lt"), …
function M.ordered(name, a, b)
  if name == "gt" or name == "ge" then a, b = b, a end
  return M.within(a, b)
    and (name == "le" or name == "ge" or not M.equal(a, b))
end

return M
