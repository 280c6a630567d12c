-- SPDX-License-Identifier: MIT
-- dt/python/ops.lua: Python's operators and subscripts.  Where an operand is
-- a tensor, the tensor's own sign is meant.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"

local M = {}
local None = dt.None
local A = dt._arith

local function tensorish(a, b) return util.is_tensor(a) or util.is_tensor(b) end

local function concat(a, b)
  local out = {}
  for i = 1, a.n do out[i] = a[i] end
  for i = 1, b.n do out[a.n + i] = b[i] end
  return (V.is_tuple(a) and V.tuple or V.list)(out, a.n + b.n)
end

local function times(seq, n)
  local out, k = {}, 0
  for _ = 1, n do
    for i = 1, seq.n do
      k = k + 1
      out[k] = seq[i]
    end
  end
  return (V.is_tuple(seq) and V.tuple or V.list)(out, k)
end

local function number(v)
  if v == true then return 1 elseif v == false then return 0 end
  return v
end

local function power(a, b)
  if math.type(a) == "integer" and math.type(b) == "integer" and b >= 0 then
    local out = 1
    for _ = 1, b do out = out * a end
    return out
  end
  return a ^ b
end

local function merged(a, b)
  local d = V.dict()
  for k, v in V.each(a) do V.dict_set(d, k, v) end
  for k, v in V.each(b) do V.dict_set(d, k, v) end
  return d
end

-- "text %s" % value or tuple
local function format(text, v)
  local items, n = {v}, 1
  if V.is_tuple(v) then items, n = v, v.n end
  local out = {}
  for i = 1, n do out[i] = items[i] end
  return (text:gsub("%%([%d.]*)([sdrfge])", function (width, kind)
    local x = table.remove(out, 1)
    if kind == "s" then return V.str(x) end
    if kind == "r" then return V.repr(x) end
    return ("%" .. width .. kind):format(x)
  end))
end

M.binary = {
  ["+"] = function (a, b)
    if V.is_seq(a) and V.is_seq(b) then return concat(a, b) end
    if type(a) == "string" and type(b) == "string" then return a .. b end
    return number(a) + number(b)
  end,
  ["-"] = function (a, b) return number(a) - number(b) end,
  ["*"] = function (a, b)
    if V.is_seq(a) then return times(a, b) end
    if V.is_seq(b) then return times(b, a) end
    if type(a) == "string" then return a:rep(b) end
    return number(a) * number(b)
  end,
  ["/"] = function (a, b) return number(a) / number(b) end,
  ["//"] = function (a, b) return number(a) // number(b) end,
  ["%"] = function (a, b)
    if type(a) == "string" then return format(a, b) end
    return number(a) % number(b)
  end,
  ["**"] = function (a, b)
    if tensorish(a, b) then
      if not util.is_tensor(a) then return A.rpow(b, a) end
      return A.pow(a, b)
    end
    return power(number(a), number(b))
  end,
  ["@"] = function (a, b) return dt.matmul(a, b) end,
  ["|"] = function (a, b)
    if V.is_dict(a) then return merged(a, b) end
    return a | b
  end,
  ["&"] = function (a, b) return a & b end,
  ["^"] = function (a, b)
    if type(a) == "boolean" then return a ~= b end
    return a ~ b
  end,
  ["<<"] = function (a, b) return a << b end,
  [">>"] = function (a, b) return a >> b end,
}

M.unary = {
  ["-"] = function (a) return -a end,
  ["+"] = function (a) return a end,
  ["~"] = function (a)
    if util.is_tensor(a) then return a:bitwise_not() end
    return ~a
  end,
}

local inplace = {["+"] = "add_", ["-"] = "sub_", ["*"] = "mul_",
  ["/"] = "div_", ["**"] = "pow_"}

-- a += b: tensors change in place.
function M.augmented(op)
  local plain, name = M.binary[op], inplace[op]
  return function (a, b)
    if util.is_tensor(a) and name then return a[name](a, b) end
    return plain(a, b)
  end
end

local function ordered(name, f)
  return function (a, b)
    if util.is_tensor(a) then return a[name](a, b) end
    if util.is_tensor(b) then
      local mirror = {lt = "gt", gt = "lt", le = "ge", ge = "le"}
      return b[mirror[name]](b, a)
    end
    return f(number(a), number(b))
  end
end

local function same(a, b)
  if rawequal(a, b) then return true end
  if util.is_tensor(a) and util.is_tensor(b) then return a._id == b._id end
  if type(a) == "number" or type(a) == "string" then return a == b end
  if type(a) == "userdata" and type(b) == "userdata"
     and not tensorish(a, b) then
    return a == b
  end
  return false
end

M.compare = {
  ["=="] = V.equal,
  ["!="] = function (a, b)
    if util.is_tensor(a) then return a:ne(b) end
    return not V.equal(a, b)
  end,
  ["<"] = ordered("lt", function (a, b) return a < b end),
  [">"] = ordered("gt", function (a, b) return a > b end),
  ["<="] = ordered("le", function (a, b) return a <= b end),
  [">="] = ordered("ge", function (a, b) return a >= b end),
  ["in"] = function (a, b) return V.contains(b, a) end,
  ["not in"] = function (a, b) return not V.contains(b, a) end,
  ["is"] = same,
  ["is not"] = function (a, b) return not same(a, b) end,
}

-- ---- subscripts ----

local slice_mt = {__name = "slice"}

function M.slice(start, stop, step)
  return setmetatable({start = start, stop = stop, step = step}, slice_mt)
end

local function is_slice(v) return getmetatable(v) == slice_mt end

-- An index for a tensor.
local function to_index(v)
  if is_slice(v) then
    local step = v.step ~= None and v.step or nil
    if v.start == None and v.stop == None then
      return dt.slice(nil, nil, step)
    end
    return dt.slice(v.start, v.stop, step or 1)
  end
  if V.is_tuple(v) then
    local out = {}
    for i = 1, v.n do out[i] = to_index(v[i]) end
    return out
  end
  return V.to_lua(v)
end

local function bounds(s, n)
  local function place(v, default)
    if v == None then return default end
    if v < 0 then v = v + n end
    return math.max(0, math.min(n, v))
  end
  local step = s.step == None and 1 or s.step
  if step < 0 then return n - 1, -1, step end
  return place(s.start, 0), place(s.stop, n), step
end

local function slice_of(v, s)
  local n = type(v) == "string" and #v or v.n
  local first, last, step = bounds(s, n)
  if type(v) == "string" then return v:sub(first + 1, last) end
  local out = {}
  for i = first, step > 0 and last - 1 or last + 1, step do
    out[#out + 1] = v[i + 1]
  end
  return (V.is_tuple(v) and V.tuple or V.list)(out)
end

local function place(v, i)
  if i < 0 then i = i + v.n end
  if i < 0 or i >= v.n then
    util.raise("IndexError", "%s index out of range", V.type_name(v))
  end
  return i + 1
end

local function mesh_slice(m, i)
  return require("dt.python.mesh").slice(m, i)
end

function M.getitem(v, i)
  if V.is_seq(v) then
    if is_slice(i) then return slice_of(v, i) end
    return v[place(v, i)]
  elseif V.is_dict(v) then
    local item = V.dict_get(v, i)
    if item == nil then util.raise("KeyError", "%s", V.repr(i)) end
    return item
  elseif type(v) == "string" then
    if is_slice(i) then return slice_of(v, i) end
    if i < 0 then i = i + #v end
    return v:sub(i + 1, i + 1)
  elseif util.is_tensor(v) then
    return dt.Tensor._getitem(v, to_index(i))
  elseif util.is_mesh(v) then
    return mesh_slice(v, i)
  elseif type(v) == "table" and v.__getitem then
    return V.from_lua(v:__getitem(i))
  end
  local key = V.to_lua(i)
  if math.type(key) == "integer" and getmetatable(v) == nil then
    key = key + 1
  end
  return V.from_lua(v[key])
end

function M.setitem(v, i, x)
  if V.is_seq(v) then
    v[place(v, i)] = x
  elseif V.is_dict(v) then
    V.dict_set(v, i, x)
  elseif util.is_tensor(v) then
    dt.Tensor._setitem(v, to_index(i), V.to_lua(x))
  else
    v[V.to_lua(i)] = x
  end
end

return M
