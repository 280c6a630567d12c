-- SPDX-License-Identifier: MIT
-- python/memoryview.lua: memoryview: bytes seen without a copy.  A view keeps
-- what it sees in `_boxed`, as objects of classes below bytes do, so that what
-- takes bytes takes views.  Items are single bytes.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local big = require "python.bigint"
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
    local r = ops.getitem(V.range(0, #s, 1), i)
    return view_of(V.part_of_bytes(rawget(v, "_boxed"), r.first, r.step, r.n),
      v, v.step * r.step)
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

local function byte_of(x)
  local n = V.index_of(x)
  if math.type(n) == "integer" and n >= 0 and n < 256 then return n end
  local is_number = math.type(n) == "integer" or big.is(n)
  return util.raise(is_number and "ValueError" or "TypeError",
    "memoryview: invalid %s for format 'B'", is_number and "value" or "type")
end

local function put_item(v, i, x)
  if v.readonly then util.raise("TypeError", "cannot modify read-only memory") end
  local before = #content(v)
  local copy = V.bytearray(content(v))
  if V.type_name(i) == "slice" then
    x = V.unbox(x)
  else
    item(v, i)                          -- is there one?
    x = byte_of(x)
  end
  ops.setitem(copy, i, x)
  if #copy.s ~= before then
    util.raise("ValueError", "memoryview assignment: lvalue and rvalue have "
      .. "different structures")
  end
  rawget(v, "_boxed").s = copy.s
end

local function tolist(v) return V.list(V.items(V.bytes(content(v)))) end

local METHODS = {
  tobytes = function (v) return V.bytes(content(v)) end,
  tolist = tolist,
  hex = function (v, a, kw)
    return V.call(attrs.get(V.bytes(content(v)), "hex"), a, kw)
  end,
  release = function (v)
    rawset(v, "released", true)
    return None
  end,
  toreadonly = function (v)
    return view_of(rawget(v, "_boxed"), v, v.step, true)
  end,
}

local function is_contiguous(v) return v.step == 1 or #content(v) < 2 end

local FACTS = {
  nbytes = function (v) return #content(v) end,
  itemsize = function () return 1 end, ndim = function () return 1 end,
  format = function () return "B" end,
  shape = function (v) return V.tuple({#content(v)}, 1) end,
  strides = function (v) return V.tuple({v.step}, 1) end,
  contiguous = is_contiguous, c_contiguous = is_contiguous,
  f_contiguous = is_contiguous,
}

function mt.__index(v, name)
  if FACTS[name] then return FACTS[name](v) end
  local f = METHODS[name]
  return f and builtin(function (a, kw) return f(v, a, kw) end, name) or nil
end

-- view_of(bytes, from, step, readonly): a view of these bytes, made of an object
-- or another view; the next item is `step` bytes on.
function view_of(b, from, step, readonly)
  local above = is(from)
  local v = setmetatable({_boxed = b, obj = above and from.obj or from, step = step,
    readonly = readonly or above and from.readonly
      or not above and not V.is_bytearray(b)}, mt)
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
      return V.contains(tolist(v), x)
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
  if is(given) then return view_of(rawget(given, "_boxed"), given, given.step) end
  local b = V.unbox(given)
  if not V.is_bytes(b) then
    util.raise("TypeError", "memoryview: a bytes-like object is required, not "
      .. "'%s'", V.type_name(given))
  end
  return view_of(b, given, 1)
end, "memoryview")
class.__qualname__, class.test = "memoryview", is
builtins.names.memoryview = class
