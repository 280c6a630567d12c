-- SPDX-License-Identifier: MIT
-- python/std/memory.lua: memoryview: bytes seen without a copy.  A view keeps
-- what it sees in `_boxed`, as objects of classes below bytes do, so that what
-- takes bytes takes views.  Items are single bytes; a part of a bytearray is
-- seen as it is when the view is made, and cannot be written.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtins = require "python.builtins"
local ops = require "python.ops"

local None, builtin = dt.None, V.builtin
local mt = {__name = "memoryview"}
local view_of

local function is(v) return getmetatable(v) == mt end

local function content(v)
  local held = rawget(v, "_boxed")
  if rawget(v, "released") then
    util.raise("ValueError", "operation forbidden on released memoryview object")
  end
  return held.s
end

local function item(v, i)
  local s = content(v)
  if V.type_name(i) == "slice" then
    local b = ops.getitem(V.bytes(s), i)
    local whole = #b.s == #s and b.s == s
    return view_of(whole and rawget(v, "_boxed") or b, v.obj, not whole)
  end
  i = V.index_of(i)
  if math.type(i) ~= "integer" then
    util.raise("TypeError", "memoryview: invalid slice key")
  end
  if i < 0 then i = i + #s end
  if i < 0 or i >= #s then
    util.raise("IndexError", "index out of bounds on dimension 1")
  end
  return s:byte(i + 1)
end

local function put_item(v, i, x)
  if v.readonly then util.raise("TypeError", "cannot modify read-only memory") end
  if rawget(v, "part") then
    util.refuse("writing to a part of a memoryview is not part of dtrepl")
  end
  local before = #content(v)
  local copy = V.bytearray(content(v))
  ops.setitem(copy, i, V.type_name(i) == "slice" and V.unbox(x) or x)
  if #copy.s ~= before then
    util.raise("ValueError", "memoryview assignment: lvalue and rvalue have "
      .. "different structures")
  end
  rawget(v, "_boxed").s = copy.s
end

local METHODS = {
  tobytes = function (v) return V.bytes(content(v)) end,
  tolist = function (v)
    return V.list({content(v):byte(1, -1)}, #content(v))
  end,
  hex = function (v, a, kw)
    return V.call(attrs.get(V.bytes(content(v)), "hex"), a, kw)
  end,
  release = function (v)
    rawset(v, "released", true)
    return None
  end,
  toreadonly = function (v) return view_of(V.bytes(content(v)), v.obj) end,
}

local FACTS = {
  nbytes = function (v) return #content(v) end,
  itemsize = function () return 1 end, ndim = function () return 1 end,
  format = function () return "B" end,
  shape = function (v) return V.tuple({#content(v)}, 1) end,
  strides = function () return V.tuple({1}, 1) end,
  contiguous = function () return true end,
  c_contiguous = function () return true end,
  readonly = function (v) return not V.is_bytearray(v._boxed) end,
}

function mt.__index(v, name)
  if FACTS[name] then return FACTS[name](v) end
  local f = METHODS[name]
  return f and builtin(function (a, kw) return f(v, a, kw) end, name) or nil
end

-- view_of(bytes, object, part): a view of these bytes, which are the object's,
-- or a part of them.
function view_of(b, object, part)
  local v = setmetatable({_boxed = b, obj = object, part = part}, mt)
  v.specials = {
    __len__ = function () return #content(v) end,
    __getitem__ = function (i) return item(v, i) end,
    __setitem__ = function (i, x)
      put_item(v, i, x)
      return None
    end,
    __iter__ = function ()
      return V.iterator(V.iter(V.bytes(content(v))), "memory_iterator")
    end,
    __contains__ = function (x)
      return V.contains(V.list({content(v):byte(1, -1)}, #content(v)), x)
    end,
    __eq__ = function (x)
      x = V.unbox(x)
      if not V.is_bytes(x) then return V.not_implemented end
      return x.s == content(v)
    end,
    __bool__ = function () return #content(v) > 0 end,
    __enter__ = function () return v end,
    __exit__ = function ()
      rawset(v, "released", true)
      return None
    end,
    __bytes__ = function () return V.bytes(content(v)) end,
    __repr__ = function ()
      return ("<memory at 0x%x>"):format(V.identity(v))
    end,
  }
  return attrs.namespace(v)
end

local class = builtin(function (a, kw)
  local given = a[1]
  if given == nil and kw then given = V.dict_get(kw, "object") end
  if is(given) then return view_of(rawget(given, "_boxed"), given.obj, given.part) end
  local b = V.unbox(given)
  if not V.is_bytes(b) then
    util.raise("TypeError", "memoryview: a bytes-like object is required, not "
      .. "'%s'", V.type_name(given))
  end
  return view_of(b, given)
end, "memoryview")
class.__qualname__, class.test = "memoryview", is
builtins.names.memoryview = class

return {is = is}
