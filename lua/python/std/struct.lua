-- SPDX-License-Identifier: MIT
-- python/std/struct.lua: struct: numbers as bytes, in the sizes and orders that
-- a format names.

local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local big = require "python.bigint"
local constructors = require "python.constructors"
local exceptions = require "python.exceptions"

local M = {}

local error_class = exceptions.define("error", exceptions.classes.Exception)
error_class.__module__ = "struct"

local function refuse(...)
  error(error_class.make(V.list {(...):format(select(2, ...))}), 0)
end

-- By code: bytes as they are without an order, and with one; Lua's letter.
local CODES = {c = {1, 1, "c"}, b = {1, 1, "i"}, B = {1, 1, "I"},
  ["?"] = {1, 1, "?"}, h = {2, 2, "i"}, H = {2, 2, "I"}, i = {4, 4, "i"},
  I = {4, 4, "I"}, l = {8, 4, "i"}, L = {8, 4, "I"}, q = {8, 8, "i"},
  Q = {8, 8, "I"}, n = {8, nil, "i"}, N = {8, nil, "I"}, f = {4, 4, "f"},
  d = {8, 8, "d"}, e = {2, 2, "e"}, s = {1, 1, "s"}, p = {1, 1, "p"}, x = {1, 1, "x"}}

-- parsed(format): the order for Lua, items {code, size, letter, count, pad},
-- where pad is how many bytes stand before, and the size of all.
local function parsed(format)
  if V.is_bytes(format) then format = format.s end
  local text = V.unbox(format)
  if type(text) ~= "string" then
    util.raise("TypeError", "Struct() argument 1 must be a str or bytes object, "
      .. "not %s", V.type_name(format))
  end
  local mark, rest = text:match("^([@=<>!]?)(.*)$")
  local native = mark == "" or mark == "@"
  local order = (mark == ">" or mark == "!") and ">" or "<"
  local items, size = {}, 0
  rest = rest:gsub("%s+", "")
  local at = 1
  while at <= #rest do
    local digits, code, after = rest:match("^(%d*)(.)()", at)
    if not code then refuse("repeat count given without format specifier") end
    at = after
    local row = CODES[code]
    if code == "P" then
      util.refuse("struct: the format %s is not part of "
        .. "dtrepl", code)
    end
    local width = row and row[native and 1 or 2]
    if not width then refuse("bad char in struct format") end
    local count = digits == "" and 1 or tonumber(digits)
    local pad = native and count >= 0 and -size % width or 0
    size = size + pad + width * count
    items[#items + 1] = {code = code, size = width, letter = row[3],
      count = count, pad = pad}
  end
  return order, items, size
end

-- How many values an item takes.
local function values_of(item)
  if item.code == "x" then return 0 end
  if item.code == "s" or item.code == "p" then return 1 end
  return item.count
end

local function integer_bytes(order, item, v)
  local n = V.index_of(v)
  if math.type(n) ~= "integer" and not big.is(n) then
    refuse("required argument is not an integer")
  end
  local bits = 8 * item.size
  local low = item.letter == "i" and big.neg(big.pow(2, bits - 1)) or 0
  local high = big.sub(big.pow(2, item.letter == "i" and bits - 1 or bits), 1)
  if big.compare(n, low) < 0 or big.compare(n, high) > 0 then
    if item.size == 8 then refuse("int too large to convert") end
    local name = ({b = "byte", B = "ubyte", h = "short", H = "ushort"})[item.code]
    if name then
      refuse("%s format requires %s <= number <= %s", name, V.str(low),
        V.str(high))
    end
    refuse("'%s' format requires %s <= number <= %s", item.code, V.str(low),
      V.str(high))
  end
  if big.is(n) then n = big.sub(n, big.pow(2, 64)) end
  return string.pack(order .. item.letter .. item.size, n)
end

-- The bits of a number in two bytes, rounded to even; nil: it is too large.
local function half_bits(x)
  if x ~= x then return 0x7e00 end
  local sign = (string.pack(">d", x):byte() & 0x80) << 8
  x = math.abs(x)
  if x == math.huge then return sign | 0x7c00 end
  local power = (string.unpack(">I8", string.pack(">d", x)) >> 52) - 1023
  power = math.max(power, -14)
  local steps = x / 2.0 ^ (power - 10)
  local whole = math.floor(steps)
  local rest = steps - whole
  if rest > 0.5 or rest == 0.5 and whole % 2 == 1 then whole = whole + 1 end
  local bits = (power + 14) * 1024 + whole
  return bits < 0x7c00 and sign | bits or nil
end

local function half_value(bits)
  local power, part = bits >> 10 & 31, bits & 1023
  local x = power == 0 and part * 2.0 ^ -24
    or power < 31 and (1024 + part) * 2.0 ^ (power - 25)
    or part == 0 and math.huge or 0 / 0
  return bits >> 15 == 1 and -x or x
end

local function half_bytes(order, v)
  local x = constructors.number_to_float(v)
  if not x then refuse("required argument is not a float") end
  local bits = half_bits(x)
  if not bits then
    util.raise("OverflowError", "float too large to pack with e format")
  end
  return string.pack(order .. "I2", bits)
end

local function one_bytes(order, item, v)
  if item.letter == "c" then
    if not V.is_bytes(v) or #v.s ~= 1 then
      refuse("char format requires a bytes object of length 1")
    end
    return v.s
  elseif item.letter == "?" then
    return V.truth(v) and "\1" or "\0"
  elseif item.letter == "e" then
    return half_bytes(order, v)
  elseif item.letter == "f" or item.letter == "d" then
    local x = constructors.number_to_float(v)
    if not x then refuse("required argument is not a float") end
    local s = string.pack(order .. item.letter, x)
    if item.letter == "f" and x - x == 0
       and math.abs(string.unpack(order .. "f", s)) == math.huge then
      util.raise("OverflowError", "float too large to pack with f format")
    end
    return s
  end
  return integer_bytes(order, item, v)
end

local function text_bytes(item, v)
  if not V.is_bytes(v) then
    refuse("argument for '%s' must be a bytes object", item.code)
  end
  local s = v.s
  if item.code == "p" then
    if item.count == 0 then return "" end
    s = s:sub(1, math.min(item.count - 1, 255))
    s = string.char(#s) .. s
  end
  s = s:sub(1, item.count)
  return s .. ("\0"):rep(item.count - #s)
end

local function pack(format, args, first)
  local order, items = parsed(format)
  local wanted = 0
  for _, item in ipairs(items) do wanted = wanted + values_of(item) end
  if args.n - first + 1 ~= wanted then
    refuse("pack expected %d items for packing (got %d)", wanted,
      args.n - first + 1)
  end
  local out, at = {}, first
  for _, item in ipairs(items) do
    out[#out + 1] = ("\0"):rep(item.pad)
    if item.code == "x" then
      out[#out + 1] = ("\0"):rep(item.count)
    elseif item.code == "s" or item.code == "p" then
      out[#out + 1] = text_bytes(item, args[at])
      at = at + 1
    else
      for _ = 1, item.count do
        out[#out + 1] = one_bytes(order, item, args[at])
        at = at + 1
      end
    end
  end
  return V.bytes(table.concat(out))
end

local function one_value(order, item, s, at)
  if item.letter == "c" then return V.bytes(s:sub(at, at)) end
  if item.letter == "?" then return s:byte(at) ~= 0 end
  if item.letter == "f" or item.letter == "d" then
    return (string.unpack(order .. item.letter, s, at))
  end
  if item.letter == "e" then
    return half_value((string.unpack(order .. "I2", s, at)))
  end
  local n = string.unpack(order .. item.letter .. item.size, s, at)
  if item.letter == "I" and n < 0 then return big.add(n, big.pow(2, 64)) end
  return n
end

-- The values in s from the place `at` (from 1) on.
local function unpack(format, s, at)
  local order, items = parsed(format)
  local out, n = {}, 0
  for _, item in ipairs(items) do
    at = at + item.pad
    if item.code == "s" or item.code == "p" then
      local part = s:sub(at, at + item.count - 1)
      if item.code == "p" then
        part = part:sub(2, 1 + math.min(part:byte() or 0, item.count - 1))
      end
      n = n + 1
      out[n] = V.bytes(part)
      at = at + item.count
    elseif item.code == "x" then
      at = at + item.count
    else
      for _ = 1, item.count do
        n = n + 1
        out[n] = one_value(order, item, s, at)
        at = at + item.size
      end
    end
  end
  return V.tuple(out, n)
end

local function bytes_of(v)
  if not V.is_bytes(V.unbox(v)) then
    util.raise("TypeError", "a bytes-like object is required, not '%s'",
      V.type_name(v))
  end
  return V.unbox(v).s
end

local function unpack_all(format, v)
  local s = bytes_of(v)
  local size = select(3, parsed(format))
  if #s ~= size then refuse("unpack requires a buffer of %d bytes", size) end
  return unpack(format, s, 1)
end

local function unpack_from(format, v, at)
  local s = bytes_of(v)
  local size = select(3, parsed(format))
  at = at or 0
  if at < 0 then at = at + #s end
  if #s - at < size then
    refuse("unpack_from requires a buffer of at least %d bytes for unpacking %d "
      .. "bytes at offset %d (actual buffer size is %d)", at + size, size, at,
      #s)
  end
  return unpack(format, s, at + 1)
end

local function iter_unpack(format, v)
  local s, at = bytes_of(v), 1
  local size = select(3, parsed(format))
  if size == 0 or #s % size ~= 0 then
    refuse("iterative unpacking requires a buffer of a multiple of %d bytes",
      size)
  end
  return V.iterator(function ()
    if at > #s then return false end
    at = at + size
    return true, unpack(format, s, at - size)
  end, "unpack_iterator")
end

-- pack_into(format, buffer, at, values, first): the bytes go into a bytearray.
local function pack_into(format, buffer, at, values, first)
  if not V.is_bytearray(buffer) then
    util.raise("TypeError", "argument must be read-write bytes-like object, not "
      .. "%s", V.type_name(buffer))
  end
  local data, size = pack(format, values, first).s, #buffer.s
  at = V.index_of(at)
  if at < 0 and at + size < 0 then
    refuse("offset %d out of range for %d-byte buffer", at, size)
  elseif at < 0 and #data > -at then
    refuse("no space to pack %d bytes at offset %d", #data, at)
  end
  at = at < 0 and at + size or at
  if size - at < #data then
    refuse("pack_into requires a buffer of at least %d bytes for packing %d "
      .. "bytes at offset %d (actual buffer size is %d)", at + #data, #data, at,
      size)
  end
  buffer.s = buffer.s:sub(1, at) .. data .. buffer.s:sub(at + #data + 1)
  return dt.None
end

local function offset(a, i, kw)
  local v = a[i]
  if v == nil and kw then v = V.dict_get(kw, "offset") end
  return v
end

-- Struct(format): the same functions of one format.
local function struct(a)
  local format = a[1]
  local size = select(3, parsed(format))
  return attrs.namespace(setmetatable({format = format, size = size,
    pack = V.builtin(function (b) return pack(format, b, 1) end, "pack"),
    unpack = V.builtin(function (b) return unpack_all(format, b[1]) end,
      "unpack"),
    unpack_from = V.builtin(function (b, kw)
      return unpack_from(format, b[1], offset(b, 2, kw))
    end, "unpack_from"),
    pack_into = V.builtin(function (b)
      return pack_into(format, b[1], b[2], b, 3)
    end, "pack_into"),
    iter_unpack = V.builtin(function (b)
      return iter_unpack(format, b[1])
    end, "iter_unpack")}, {__name = "_struct.Struct"}))
end

for name, f in pairs {Struct = struct,
  pack = function (a) return pack(a[1], a, 2) end,
  unpack = function (a) return unpack_all(a[1], a[2]) end,
  unpack_from = function (a, kw)
    return unpack_from(a[1], a[2], offset(a, 3, kw))
  end,
  iter_unpack = function (a) return iter_unpack(a[1], a[2]) end,
  calcsize = function (a) return (select(3, parsed(a[1]))) end,
  pack_into = function (a) return pack_into(a[1], a[2], a[3], a, 4) end} do
  M[name] = V.builtin(f, name)
end
M.error = error_class

attrs.provide("struct", attrs.namespace(M))

return M
