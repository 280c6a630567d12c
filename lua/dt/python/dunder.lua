-- SPDX-License-Identifier: MIT
-- dt/python/dunder.lua: the methods with two underscores that values of the
-- language have, as functions: [].__len__, x.__getitem__.  They are what the
-- signs and builtins do.

local util = require "dt.util"
local V = require "dt.python.values"

local NUMBERS = {__add__ = "+", __sub__ = "-", __mul__ = "*",
  __truediv__ = "/", __floordiv__ = "//", __mod__ = "%", __pow__ = "**",
  __matmul__ = "@", __and__ = "&", __or__ = "|", __xor__ = "^"}
local ORDERS = {__lt__ = "<", __le__ = "<=", __gt__ = ">", __ge__ = ">=",
  __eq__ = "==", __ne__ = "!="}
local CALLS = {__len__ = "len", __iter__ = "iter", __str__ = "str",
  __repr__ = "repr", __hash__ = "hash", __abs__ = "abs", __int__ = "int",
  __float__ = "float", __bool__ = "bool", __format__ = "format",
  __dir__ = "dir", __round__ = "round"}

-- Which kinds of values have a name, beyond those of every object.
local ALL = "__str__ __repr__ __hash__ __eq__ __ne__ __format__ __dir__"
local BOX = " __len__ __iter__ __contains__ __getitem__"
local NUMBER = " __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ "
  .. "__pow__ __lt__ __le__ __gt__ __ge__ __abs__ __int__ __float__ __bool__ "
  .. "__round__"
local OF = {list = BOX .. " __setitem__ __delitem__ __add__ __mul__ __lt__ "
    .. "__gt__", tuple = BOX .. " __add__ __mul__ __lt__ __gt__",
  dict = BOX .. " __setitem__ __delitem__ __or__",
  set = " __len__ __iter__ __contains__ __and__ __or__ __sub__ __xor__",
  str = BOX .. " __add__ __mul__ __mod__ __lt__ __gt__",
  number = NUMBER .. " __and__ __or__ __xor__",
  tensor = NUMBER .. BOX .. " __setitem__ __matmul__ __and__ __or__ __xor__",
  mesh = " __getitem__", callable = " __call__"}
local has = {}
for kind, names in pairs(OF) do
  has[kind] = {}
  for name in (ALL .. names):gmatch("%S+") do has[kind][name] = true end
end

local function kind_of(v)
  if V.is_list(v) then return "list" elseif V.is_tuple(v) then return "tuple"
  elseif V.is_dict(v) then return "dict" elseif V.is_set(v) then return "set"
  elseif type(v) == "string" then return "str"
  elseif type(v) == "number" or type(v) == "boolean" then return "number"
  elseif util.is_tensor(v) then return "tensor"
  elseif util.is_mesh(v) then return "mesh"
  elseif V.is_function(v) then return "callable" end
end

local function function_for(v, name)
  local ops = require "dt.python.ops"
  if name == "__getitem__" then
    return function (a) return ops.getitem(v, a[1]) end
  elseif name == "__setitem__" then
    return function (a)
      ops.setitem(v, a[1], a[2])
      return require("dt").None
    end
  elseif name == "__delitem__" then
    return function (a)
      ops.delitem(v, a[1])
      return require("dt").None
    end
  elseif name == "__contains__" then
    return function (a) return V.contains(v, a[1]) end
  elseif name == "__call__" then
    return function (a, kw) return V.call(v, a, kw) end
  elseif NUMBERS[name] then
    return function (a) return ops.binary[NUMBERS[name]](v, a[1]) end
  elseif ORDERS[name] and ops.compare then
    return function (a) return ops.compare[ORDERS[name]](v, a[1]) end
  elseif CALLS[name] then
    local f = require("dt.python.builtins").names[CALLS[name]]
    return function (a, kw)
      return f.call(V.list({v, table.unpack(a, 1, a.n)}, a.n + 1), kw)
    end
  end
end

-- get(v, name): v.name as a function, or nil where v has none.
return function (v, name)
  local kind = kind_of(v)
  if not kind or not has[kind][name] then return nil end
  local f = function_for(v, name)
  return f and V.builtin(f, name)
end
