-- SPDX-License-Identifier: MIT
-- python/constructors.lua: int, float, complex, str, bytes, bytearray, list,
-- tuple, set, frozenset and dict as a program calls them and asks them for
-- their methods.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"
local boxes = require "python.boxes"
local text = require("python.text").methods
local bytes = require "python.bytes_methods"
local numbers = require "python.number_methods"
local native = require "python.native"
local attrs = require "python.attrs"
local exceptions = require "python.exceptions"
local classes = require "python.class"
local unicode = require "python.unicode"
local ops = require "python.ops"

local M = {names = {}}
local None, builtin = dt.None, V.builtin

local function raise_type(...) util.raise("TypeError", ...) end

local function kwarg(kw, name) return kw and V.dict_get(kw, name) end

-- Those that say "int() takes at most 2 arguments (3 given)".
local COUNTED <const> = {int = true, str = true, bytes = true, complex = true,
  bytearray = true}

-- At most `most` arguments by position, and those keywords.
local function check(name, a, kw, most, names)
  if a.n > most and COUNTED[name] then
    raise_type("%s() takes at most %d arguments (%d given)", name, most, a.n)
  elseif a.n > most then
    raise_type("%s expected at most %d argument%s, got %d", name, most,
      most == 1 and "" or "s", a.n)
  end
  for k in V.each(kw or {keys = {}, map = {}, of = {}}) do
    if not names then
      raise_type("%s() takes no keyword arguments", name)
    elseif not names[k] then
      raise_type("'%s' is an invalid keyword argument for %s()", k, name)
    end
  end
end

-- ---- int ----

local BASES = {b = 2, o = 8, x = 16}

-- Digits of other scripts as those of ASCII.
local function plain_digits(s)
  if unicode.is_ascii(s) then return s end
  return (s:gsub("[\xc2-\xf4][\x80-\xbf]*", function (c)
    if unicode.is("space", c) then return " " end
    if not unicode.is("decimal", c) then return c end
    -- Tens of digits from 0 to 9, some behind each other.
    local code, before = utf8.codepoint(c), 0
    while unicode.is("decimal", utf8.char(code - before - 1)) do
      before = before + 1
    end
    return tostring(before % 10)
  end))
end

-- The integer that digits with or without a sign say, or nil.
local function whole(digits, base)
  local sign, rest = digits:match("^([+-]?)(%w[%w_]*)$")
  if not rest or rest:find("__", 1, true) or rest:sub(-1) == "_" then
    return nil
  end
  local n = big.parse(rest:gsub("_", ""), base)
  return n and (sign == "-" and big.neg(n) or n)
end

local function int_of_text(shown, s, base)
  if base ~= 0 and (base < 2 or base > 36) then
    util.raise("ValueError", "int() base must be >= 2 and <= 36, or 0")
  end
  local digits = plain_digits(s):match("^[\t-\r\x1c-\x20]*([+-]?[%w_]+)"
    .. "[\t-\r\x1c-\x20]*$")
  local n
  if digits then
    local own = base
    local prefix = digits:match("^[+-]?0([xXbBoO])_?%w")
    local of = prefix and BASES[prefix:lower()]
    if own == 0 then
      own = of or 10
      if not of and digits:find("^[+-]?0[0_]*[1-9]") then own = nil end
    end
    if own and of == own then digits = digits:gsub("0[xXbBoO]_?", "", 1) end
    n = own and whole(digits, own)
  end
  if n then return n end
  return util.raise("ValueError", "invalid literal for int() with base %d: %s",
    base, V.repr(shown))
end

local function int_of_float(v)
  if v ~= v then
    util.raise("ValueError", "cannot convert float NaN to integer")
  end
  if v - v ~= 0 then
    util.raise("OverflowError", "cannot convert float infinity to integer")
  end
  return big.of_float(v >= 0 and math.floor(v) or math.ceil(v))
end

local function is_int(v) return math.type(v) == "integer" or big.is(v) end

local function deprecated(...)
  local warn = attrs.get(attrs.module "warnings", "warn")
  V.call(warn, V.list({(...):format(select(2, ...)),
    exceptions.classes.DeprecationWarning}, 2))
end

-- What a method that has to give an integer gave.
local function said_int(name, v)
  local given = v
  v = V.unbox(v)
  if not rawequal(given, v) and is_int(v) or type(v) == "boolean" then
    deprecated("%s returned non-int (type %s).  The ability to return an "
      .. "instance of a strict subclass of int is deprecated, and may be "
      .. "removed in a future version of Python.", name, V.type_name(given))
  end
  if type(v) == "boolean" then return v and 1 or 0 end
  if not is_int(v) then
    raise_type("%s returned non-int (type %s)", name, V.type_name(v))
  end
  return v
end

local function to_int(v)
  if is_int(v) then return v end
  if util.is_tensor(v) then v = V.tensor_number(v) end
  if type(v) == "boolean" then return v and 1 or 0 end
  if math.type(v) == "float" then return int_of_float(v) end
  if math.type(v) == "integer" then return v end
  local own = V.type_name(V.unbox(v)) == "int" and V.is_boxed(v)
  for _, name in ipairs {"__int__", "__index__", "__trunc__"} do
    local special = not (own and name ~= "__int__") and V.special(v, name)
    if special then
      local said = special()
      if name == "__trunc__" then
        deprecated "The delegation of int() to __trunc__ is deprecated."
        said = V.is_boxed(said) and said or V.index_of(said)
      end
      return said_int(name, said)
    end
  end
  local x = V.unbox(v)
  if type(x) == "string" then return int_of_text(v, x, 10) end
  if V.is_bytes(x) then return int_of_text(v, x.s, 10) end
  local buffer = V.special(v, "__buffer__")
  if buffer then return int_of_text(v, buffer(0).s, 10) end
  if not rawequal(x, v) then return to_int(x) end
  return raise_type("int() argument must be a string, a bytes-like object or a "
    .. "real number, not '%s'", V.type_name(v))
end

local function int(a, kw)
  check("int", a, kw, 2, {base = true})
  local base = a[2]
  if base == nil then base = kwarg(kw, "base") end
  if a.n == 0 then
    if base ~= nil then raise_type("int() missing string argument") end
    return 0
  end
  if base == nil then return to_int(a[1]) end
  if V.type_name(a[1]) == "memoryview" then
    raise_type("int() can't convert non-string with explicit base")
  end
  base = V.index_of(base)
  if math.type(base) ~= "integer" then
    if big.is(base) then base = -1 else
      raise_type("'%s' object cannot be interpreted as an integer",
        V.type_name(base))
    end
  end
  local x = V.unbox(a[1])
  if V.is_bytes(x) then x = x.s end
  if type(x) ~= "string" then
    raise_type("int() can't convert non-string with explicit base")
  end
  return int_of_text(a[1], x, base)
end

-- ---- float and complex ----

local NAMED = {inf = math.huge, infinity = math.huge, nan = V.NAN}

local function float_of_text(shown, s)
  local word = plain_digits(s):match("^[\t-\r\x1c-\x20]*(.-)[\t-\r\x1c-\x20]*$")
  local sign, rest = word:lower():match("^([+-]?)(.*)$")
  local n = NAMED[rest]
  if not n and rest:find("^%.?%d") and not rest:find("[^%d%.e+_-]")
     and not rest:find("_[^%d]") and not rest:find("[^%d]_")
     and not rest:find("_$") then
    n = tonumber((rest:gsub("_", "")))
  end
  if not n then
    util.raise("ValueError", "could not convert string to float: %s",
      V.repr(shown))
  end
  n = n * 1.0
  return sign == "-" and -n or n
end

-- The float of a number, or of what says it is one; else nil.
local function number_to_float(v)
  if util.is_tensor(v) then v = V.tensor_number(v) end
  if type(v) == "number" then return v * 1.0 end
  if type(v) == "boolean" then return v and 1.0 or 0.0 end
  if big.is(v) then return big.float(v) end
  local special = V.special(v, "__float__")
  if special then
    local x = special()
    local boxed = V.unbox(x)
    if math.type(boxed) ~= "float" then
      raise_type("%s.__float__ returned non-float (type %s)", V.type_name(v),
        V.type_name(x))
    end
    if type(x) ~= "number" then
      deprecated("%s.__float__ returned non-float (type %s).  The ability to "
        .. "return an instance of a strict subclass of float is deprecated, and "
        .. "may be removed in a future version of Python.",
        V.type_name(v), V.type_name(x))
    end
    return boxed
  end
  special = V.special(v, "__index__")
  if special then return number_to_float(said_int("__index__", special())) end
  local x = V.unbox(v)
  return not rawequal(x, v) and type(x) ~= "string" and number_to_float(x)
    or nil
end
M.number_to_float = number_to_float

local function float(a, kw)
  check("float", a, kw, 1)
  if a.n == 0 then return 0.0 end
  local v = a[1]
  local n = number_to_float(v)
  if n then return n end
  local x = V.unbox(v)
  if V.is_bytes(x) then return float_of_text(v, x.s) end
  if type(x) == "string" then return float_of_text(v, x) end
  return raise_type("float() argument must be a string or a real number, not "
    .. "'%s'", V.type_name(v))
end

local function complex_part(v, which)
  if V.is_complex(V.unbox(v)) then return V.unbox(v) end
  local special = V.special(v, "__complex__")
  if special then
    local x = V.unbox(special())
    if not V.is_complex(x) then
      raise_type("__complex__ returned non-complex (type %s)", V.type_name(x))
    end
    return x
  end
  local n = number_to_float(v)
  if n then return V.complex(n, 0.0) end
  return raise_type(which == 1 and "complex() first argument must be a string "
    .. "or a number, not '%s'" or "complex() second argument must be a number, "
    .. "not '%s'", V.type_name(v))
end

local function complex(a, kw)
  check("complex", a, kw, 2, {real = true, imag = true})
  local re, im = a[1], a[2]
  if re == nil then re = kwarg(kw, "real") end
  if im == nil then im = kwarg(kw, "imag") end
  local s = V.unbox(re)
  if type(s) == "string" then
    if im ~= nil then
      raise_type("complex() can't take second arg if first is a string")
    end
    local v = V.parse_complex(s)
    if v then return v end
    util.raise("ValueError", "complex() arg is a malformed string")
  end
  if type(V.unbox(im)) == "string" then
    raise_type("complex() second arg can't be a string")
  end
  local x = re == nil and V.complex(0, 0) or complex_part(re, 1)
  if im == nil then return x end
  local y = complex_part(im, 2)
  local real, imag = x.re, y.re
  if V.is_complex(V.unbox(im)) then real = real - y.im end
  if V.is_complex(V.unbox(re)) then imag = imag + x.im end
  return V.complex(real, imag)
end

-- ---- str and bytes ----

local function str(a, kw)
  check("str", a, kw, 3, {object = true, encoding = true, errors = true})
  local v = a[1]
  if v == nil then v = kwarg(kw, "object") end
  if v == nil then return "" end
  local encoding = a[2] or kwarg(kw, "encoding")
  local how = a[3] or kwarg(kw, "errors")
  if encoding or how then
    if not V.is_bytes(V.unbox(v)) then
      raise_type(type(V.unbox(v)) == "string" and "decoding str is not "
        .. "supported" or "decoding to str: need a bytes-like object, %s found",
        V.type_name(v))
    end
    return V.decoded(V.unbox(v).s, encoding or "utf-8", how or "strict")
  end
  return V.str(v)
end

local function bytes_text(name, a, kw)
  check(name, a, kw, 3, {source = true, encoding = true, errors = true})
  local v = a[1]
  if v == nil then v = kwarg(kw, "source") end
  local encoding = a[2] or kwarg(kw, "encoding")
  if v == nil then return "" end
  local x = V.unbox(v)
  if type(x) == "string" then
    if not encoding then
      raise_type("string argument without an encoding")
    end
    return V.encoded(x, encoding, a[3] or kwarg(kw, "errors") or "strict").s
  elseif encoding then
    raise_type("encoding without a string argument")
  end
  local own = V.special(v, "__bytes__")
  if own then
    local out = V.unbox(own())
    if not V.is_bytes(out) then
      raise_type("__bytes__ returned non-bytes (type %s)", V.type_name(out))
    end
    return out.s
  end
  if V.is_bytes(x) then return x.s end
  local n = V.index_of(v)
  if math.type(n) == "integer" then
    if n < 0 then util.raise("ValueError", "negative count") end
    if n > 1 << 27 then util.raise("MemoryError", "") end
    return ("\0"):rep(n)
  end
  if type(n) == "number" or v == None then
    raise_type("cannot convert '%s' object to %s", V.type_name(v), name)
  end
  return bytes.bytes_of(v, name == "bytes" and name or "byte")
end

-- ---- boxes ----

local function items_of(name, a, kw)
  check(name, a, kw, 1)
  if a.n == 0 then return {}, 0 end
  local items, n = V.items(a[1])
  return table.move(items, 1, n, 1, {}), n
end

local function set_of(name, frozen)
  return function (a, kw)
    check(name, a, kw, 1)
    if frozen and V.is_set(a[1]) and a[1].frozen
       and not rawget(a[1], "_class") then
      return a[1]
    end
    local s = V.set()
    if a.n > 0 then
      if (V.is_set(a[1]) or V.is_dict(a[1])) and not rawget(a[1], "_class") then
        V.set_room(s, V.count(a[1]), V.is_set(a[1]) and a[1] or nil)
      end
      local next = V.iter(a[1])
      while true do
        local more, v = next()
        if not more then break end
        V.dict_set(s, v, true)
      end
    end
    s.frozen = frozen
    return s
  end
end

local map = boxes.methods_of(V.dict())

local function fill_dict(d, a, kw)
  if a.n > 1 then
    raise_type("dict expected at most 1 argument, got %d", a.n)
  end
  map.update(d, a, kw)
end

local function dict(a, kw)
  local d = V.dict()
  fill_dict(d, a, kw)
  return d
end

-- ---- the types ----

function map.fromkeys(_, a) return M.fromkeys(nil, a) end

native.define("int", {value = int, methods = numbers.int})
native.define("float", {value = float, methods = numbers.float})
native.define("complex", {value = complex, methods = numbers.complex})
native.define("str", {value = str, methods = text})
native.define("bytes", {methods = bytes.bytes, value = function (a, kw)
  return V.bytes(bytes_text("bytes", a, kw))
end})
native.define("bytearray", {methods = bytes.bytearray, value = function (a, kw)
  return V.bytearray(bytes_text("bytearray", a, kw))
end})
local types = native.types
types.tuple.value = function (a, kw)
  local v = a[1]
  if a.n == 1 and not kw and V.is_tuple(v) and next(v) ~= nil
     and V.type_name(v) == "tuple" and not rawget(v, "is_size")
     and not rawget(v, "_class") then
    return v
  end
  return V.tuple(items_of("tuple", a, kw))
end
types.frozenset.value = set_of("frozenset", true)
types.list.make = function () return V.list({}, 0) end
types.list.init = function (l, a, kw)
  local items, n = items_of("list", a, kw)
  for i = 1, l.n do l[i] = nil end
  table.move(items, 1, n, 1, l)
  l.n = n
end
types.dict.make, types.dict.init = V.dict, fill_dict
types.set.make = function () return V.set() end
types.set.init = function (s, a, kw)
  check("set", a, kw, 1)
  V.dict_clear(s)
  if a.n > 0 then boxes.set.update(s, a) end
end

local calls = {int = int, float = float, complex = complex, str = str,
  bytes = types.bytes.value, bytearray = types.bytearray.value, dict = dict,
  tuple = types.tuple.value, frozenset = types.frozenset.value,
  list = function (a, kw) return V.list(items_of("list", a, kw)) end,
  set = set_of("set")}

-- int.from_bytes, dict.fromkeys, …: f(class, args, kw).
local of_class = {}

function of_class.from_bytes(a, kw)
  local order = a[2] or kwarg(kw, "byteorder")
  local signed = kwarg(kw, "signed")
  local given = a[1] or kwarg(kw, "bytes")
  if type(given) == "number" or type(given) == "string" then
    raise_type("cannot convert '%s' object to bytes", V.type_name(given))
  end
  return numbers.from_bytes(bytes_text("bytes", V.list {a[1]
    or kwarg(kw, "bytes")}), order, signed ~= nil and V.truth(signed))
end
local class_methods = {int = {from_bytes = of_class.from_bytes},
  float = {fromhex = function (a) return numbers.from_hex(V.unbox(a[1])) end,
    __getformat__ = function (a)
      local kind = V.unbox(a[1])
      if type(kind) ~= "string" then
        raise_type("__getformat__() argument must be str, not %s",
          V.type_name(kind))
      end
      if kind ~= "double" and kind ~= "float" then
        util.raise("ValueError", "__getformat__() argument 1 must be 'double' or "
          .. "'float'")
      end
      return ("IEEE, %s-endian"):format(("<i2"):pack(1) == ("=i2"):pack(1)
        and "little" or "big")
    end},
  bytes = {fromhex = function (a) return V.bytes(bytes.from_hex(a[1])) end},
  bytearray = {fromhex = function (a)
    return V.bytearray(bytes.from_hex(a[1]))
  end}}
local static = {str = {maketrans = text.maketrans},
  bytes = {maketrans = bytes.bytes.maketrans}}

-- fromkeys(class, args): a dict, or one of a class below it.
function M.fromkeys(class, a)
  local d = class and V.call(class, V.list({}, 0)) or V.dict()
  local next = V.iter(a[1])
  local v = a[2]
  if v == nil then v = None end
  while true do
    local more, k = next()
    if not more then return d end
    ops.setitem(d, k, v)
  end
end

-- What each type is, in a line.
local DOC <const> = {
  str = "str(object='') or str(bytes, encoding, errors): a text.",
  int = "int(x=0) or int(text, base=10): an integer of any size.",
  float = "float(x=0): a number of 64 bits with a fraction.",
  complex = "complex(real=0, imag=0): a number with two parts.",
  list = "list(iterable=()): items in order, which can be changed.",
  tuple = "tuple(iterable=()): items in order, which cannot be changed.",
  dict = "dict(mapping or iterable of pairs, **kwargs): values by their keys.",
  set = "set(iterable=()): different items, without an order.",
  frozenset = "frozenset(iterable=()): a set that cannot be changed.",
  bytes = "bytes(source, encoding, errors): numbers from 0 to 255.",
  bytearray = "bytearray(source, encoding, errors): bytes, which can be changed.",
}

for name, f in pairs(calls) do
  local class = builtin(f, name)
  class.__qualname__, class.is_data, class.doc = name, name, DOC[name]
  for key, g in pairs(class_methods[name] or {}) do
    class[key] = builtin(g, key)
  end
  for key, g in pairs(static[name] or {}) do
    class[key] = builtin(function (a) return g(nil, a) end, key)
  end
  class.unbound = function (key) return native.member(name, key) end
  M.names[name] = class
end
M.names.dict.fromkeys = builtin(function (a)
  return M.fromkeys(nil, a)
end, "fromkeys")

-- What classes of the program below these have.
classes.native_new = native.new
function classes.native_member(name, key)
  return name and native.find(name, key)
end
function classes.native_base(b)
  if type(b) ~= "table" then return nil end
  if rawget(b, "__native") then return rawget(b, "__native") end
  local name = getmetatable(b) == V.builtin_mt and rawget(b, "is_data")
  return name ~= "bool" and name or nil
end

-- native_class_member(class, key): fromkeys and the like of a class below one
-- of these, or the function that its type has; else nil.
function classes.native_class_member(class, key)
  local name = class.__native
  if not name then return nil end
  if key == "fromkeys" and (name == "dict" or native.types[name].from_keys) then
    return builtin(function (a) return M.fromkeys(class, a) end, key)
  end
  local own = (class_methods[name] or {})[key]
  if own then
    return builtin(function (a, kw)
      return V.call(class, V.list {own(a, kw)})
    end, key)
  end
  local ok, x = pcall(attrs.get, M.names[name] or native.types[name].class, key)
  if ok then return x end
  if not V.is_error_below(x, "AttributeError") then error(x, 0) end
  return attrs.missing(class, key)
end

return M
