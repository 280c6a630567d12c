-- SPDX-License-Identifier: MIT
-- python/dunder.lua: the methods with two underscores that values of the
-- language have, as functions: [].__len__, x.__getitem__.  They are what the
-- signs and builtins do.

local util = require "dt.util"
local dt = require "dt"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local ops = require "python.ops"
local big = require "python.bigint"
local counters = require "python.counters"

local M = {}
local None = dt.None

local SIGNS = {add = "+", sub = "-", mul = "*", truediv = "/", div = "/",
  floordiv = "//", mod = "%", pow = "**", matmul = "@", ["and"] = "&",
  ["or"] = "|", xor = "^", lshift = "<<", rshift = ">>"}
local ORDERS = {__lt__ = "<", __le__ = "<=", __gt__ = ">", __ge__ = ">=",
  __eq__ = "==", __ne__ = "!="}
local CALLS = {__len__ = "len", __iter__ = "iter", __str__ = "str",
  __repr__ = "repr", __hash__ = "hash", __abs__ = "abs", __int__ = "int",
  __float__ = "float", __bool__ = "bool", __format__ = "format",
  __dir__ = "dir", __round__ = "round", __reversed__ = "reversed",
  __divmod__ = "divmod", __next__ = "next", __complex__ = "complex",
  __bytes__ = "bytes"}
local UNARY = {__neg__ = "-", __pos__ = "+", __invert__ = "~"}

local left, right, inplace = {}, {}, {}
for name, sign in pairs(SIGNS) do
  left["__" .. name .. "__"] = sign
  right["__r" .. name .. "__"] = sign
  inplace["__i" .. name .. "__"] = sign
end

-- Which kinds of values have a name, beyond those of every object.
local ALL = "__str__ __repr__ __hash__ __eq__ __ne__ __format__ __dir__"
local ORDER = " __lt__ __le__ __gt__ __ge__"
local BOX = " __len__ __iter__ __contains__ __getitem__"
local SEQ = BOX .. ORDER .. " __add__ __mul__ __rmul__"
local SET = " __len__ __iter__ __contains__ __and__ __or__ __sub__ __xor__ "
  .. "__rand__ __ror__ __rsub__ __rxor__" .. ORDER
local FLOAT = ORDER .. " __add__ __sub__ __mul__ __truediv__ __floordiv__ "
  .. "__mod__ __pow__ __radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ "
  .. "__rmod__ __rpow__ __divmod__ __rdivmod__ __abs__ __int__ __float__ "
  .. "__bool__ __round__ __neg__ __pos__ __trunc__ __floor__ __ceil__"
local INT = FLOAT .. " __and__ __or__ __xor__ __rand__ __ror__ __rxor__ "
  .. "__lshift__ __rshift__ __rlshift__ __rrshift__ __invert__ __index__"
local OF = {list = SEQ .. " __setitem__ __delitem__ __iadd__ __imul__ "
    .. "__reversed__", tuple = SEQ,
  dict = BOX .. " __setitem__ __delitem__ __or__ __ror__ __ior__ __reversed__",
  set = SET .. " __iand__ __ior__ __isub__ __ixor__",
  frozenset = SET, dict_keys = SET, dict_items = SET, odict_keys = SET,
  odict_items = SET, dict_values = " __len__ __iter__ __contains__",
  Counter = BOX .. " __setitem__ __delitem__ __reversed__ __add__ __sub__ __and__ "
    .. "__or__ __iadd__ __isub__ __iand__ __ior__ __neg__ __pos__" .. ORDER,
  str = SEQ .. " __mod__ __rmod__", bytes = SEQ .. " __mod__ __bytes__",
  range = BOX .. " __reversed__",
  int = INT, float = FLOAT, bool = INT,
  complex = " __add__ __sub__ __mul__ __truediv__ __pow__ __radd__ __rsub__ "
    .. "__rmul__ __rtruediv__ __rpow__ __abs__ __bool__ __neg__ __pos__ "
    .. "__complex__",
  generator = " __iter__ __next__",
  tensor = INT .. BOX .. " __setitem__ __matmul__ __rmatmul__ __div__ __rdiv__ "
    .. "__iadd__ __isub__ __imul__ __itruediv__ __idiv__ __ifloordiv__ __imod__ "
    .. "__ipow__",
  mesh = " __getitem__", callable = " __call__"}
local has = {}
for kind, names in pairs(OF) do
  has[kind] = {}
  for name in (ALL .. names):gmatch("%S+") do has[kind][name] = true end
end
has.bytearray = setmetatable({__setitem__ = true, __delitem__ = true,
  __iadd__ = true}, {__index = has.bytes})

local NAMED = {list = true, dict = true, tuple = true, set = true,
  frozenset = true, str = true, int = true, float = true, bool = true,
  bytes = true, bytearray = true, complex = true, generator = true,
  range = true}

local function kind_of(v)
  if util.is_tensor(v) then return "tensor" end
  if util.is_mesh(v) then return "mesh" end
  if V.is_function(v) then return "callable" end
  local made = type(v) == "table" and rawget(v, "data_class")
  local name = type(v) == "table" and rawget(v, "_native")
    or made and made.__name__ or V.type_name(v)
  if NAMED[name] or has[name] then return name end
  if V.is_list(v) then return "list" elseif V.is_tuple(v) then return "tuple"
  elseif V.is_dict(v) then return "dict" elseif V.is_set(v) then return "set"
  end
end

local function is_whole(v)
  return math.type(v) == "integer" or type(v) == "boolean" or big.is(v)
end

-- Does a tensor know the other operand of this sign?
local function meets_tensor(x, sign)
  if is_whole(x) or type(x) == "number" or V.is_complex(x) then
    return sign ~= "@"
  end
  return x ~= None and not NAMED[kind_of(x)]
end

-- Does a value of this kind know the other operand?
local function knows(kind, sign, x)
  x = V.unbox(x)
  if kind == "tensor" then return meets_tensor(x, sign) end
  if kind == "int" or kind == "bool" then return is_whole(x) end
  if kind == "float" then return is_whole(x) or type(x) == "number" end
  if kind == "complex" then
    return is_whole(x) or type(x) == "number" or V.is_complex(x)
  end
  if sign == "*" then return is_whole(x) end
  if kind == "str" then return sign == "%" or type(x) == "string" end
  if kind == "bytes" or kind == "bytearray" then
    return sign == "%" or V.is_bytes(x)
  end
  if kind == "list" then return V.is_list(x) end
  if kind == "tuple" then return V.is_tuple(x) end
  if kind == "dict" then return V.is_dict(x) end
  if kind == "Counter" then return counters.is(x) end
  if kind == "set" or kind == "frozenset" then return V.is_set(x) end
  return true
end

local function of_sign(v, name)
  local kind = kind_of(v)
  local sign = left[name] or right[name] or ORDERS[name]
  local f = ORDERS[name] and ops.compare[sign] or ops.binary[sign]
  return function (a)
    if not knows(kind, sign, a[1]) then return V.not_implemented end
    if name == "__pow__" and a.n > 1 and a[2] ~= None then
      return builtin_names.pow.call(V.list {v, a[1],
        a[2]})
    end
    if right[name] then return f(a[1], v) end
    return f(v, a[1])
  end
end

local items = {
  __getitem__ = function (v, a) return ops.getitem(v, a[1]) end,
  __setitem__ = function (v, a)
    ops.setitem(v, a[1], a[2])
    return None
  end,
  __delitem__ = function (v, a)
    ops.delitem(v, a[1])
    return None
  end,
  __contains__ = function (v, a) return V.contains(v, a[1]) end,
  __call__ = function (v, a, kw) return V.call(v, a, kw) end,
  __index__ = function (v) return v == true and 1 or v or 0 end,
  __trunc__ = function (v)
    return builtin_names.int.call(V.list {v})
  end,
  __floor__ = function (v)
    if v - v ~= 0 then return builtin_names.int.call(V.list {v}) end
    return builtin_names.int.call(V.list {
      ops.binary["//"](v, 1)})
  end,
  __ceil__ = function (v)
    if v - v ~= 0 then return builtin_names.int.call(V.list {v}) end
    return ops.unary["-"](builtin_names.int.call(V.list {
      ops.binary["//"](ops.unary["-"](v), 1)}))
  end,
  __rdivmod__ = function (v, a)
    return builtin_names.divmod.call(V.list {a[1], v})
  end,
}

local function function_for(v, name)
  if items[name] then
    local f = items[name]
    return function (a, kw) return f(v, a, kw) end
  elseif left[name] or right[name] or ORDERS[name] then
    return of_sign(v, name)
  elseif inplace[name] then
    local sign = inplace[name]
    local f = ops.augmented(sign)
    return function (a)
      if util.is_tensor(v) and not meets_tensor(V.unbox(a[1]), sign) then
        return V.not_implemented
      end
      return f(v, a[1])
    end
  elseif UNARY[name] then
    local f = ops.unary[UNARY[name]]
    return function () return f(v) end
  elseif CALLS[name] then
    local f = builtin_names[CALLS[name]]
    return function (a, kw)
      return f.call(V.list({v, table.unpack(a, 1, a.n)}, a.n + 1), kw)
    end
  end
end

local WANTS = {__setitem__ = 2, __trunc__ = 0, __floor__ = 0, __ceil__ = 0,
  __index__ = 0}

-- f with as many arguments as the sign has operands.
local function checked(f, name)
  local n = WANTS[name] or UNARY[name] and 0 or (items[name] or left[name]
    or right[name] or ORDERS[name] or inplace[name]) and 1
  if not n or name == "__call__" then return f end
  return function (a, kw)
    if a.n ~= n and not (name == "__pow__" and a.n == 2) then
      util.raise("TypeError", "expected %d argument%s, got %d", n,
        n == 1 and "" or "s", a.n)
    end
    return f(a, kw)
  end
end

-- has(kind, name): has a value of that kind (list, str, …) such a method?
function M.has(kind, name)
  return has[kind] ~= nil and has[kind][name] == true
end

-- get(v, name): v.name as a function, or nil where v has none.
function M.get(v, name)
  local kind = kind_of(v)
  if not kind or not has[kind] or not has[kind][name] then return nil end
  local f = function_for(v, name)
  return f and V.builtin(checked(f, name), name)
end

return M
