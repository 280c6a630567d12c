-- SPDX-License-Identifier: MIT
-- python/number_methods.lua: attributes of int, bool, float
-- and complex: facts f(v) and methods f(v, args, kw).

local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"

local M = {}

local function integer(v)
  if v == true then return 1 elseif v == false then return 0 end
  return v
end

-- ---- int ----

local int_fact = {
  real = integer, numerator = integer,
  imag = function () return 0 end, denominator = function () return 1 end,
}
local int = {}
function int.bit_length(v) return big.bit_length(integer(v)) end
function int.bit_count(v)
  return select(2, big.digits(big.abs(integer(v)), 2):gsub("1", ""))
end
function int.conjugate(v) return integer(v) end
function int.is_integer() return true end
function int.as_integer_ratio(v) return V.tuple({integer(v), 1}, 2) end

local function order_of(v)
  if v == "big" or v == nil then return true end
  if v == "little" then return false end
  return util.raise("ValueError", "byteorder must be either 'little' or 'big'")
end

function int.to_bytes(v, args, kw)
  local function arg(i, name)
    local x = args[i]
    if x == nil and kw then x = V.dict_get(kw, name) end
    return x
  end
  v = integer(v)
  local n = arg(1, "length") or 1
  local from_big = order_of(arg(2, "byteorder"))
  local signed = kw and V.dict_get(kw, "signed")
  signed = signed ~= nil and V.truth(signed)
  if n < 0 then
    util.raise("ValueError", "length argument must be non-negative")
  end
  local negative = big.compare(v, 0) < 0
  if negative and not signed then
    util.raise("OverflowError", "can't convert negative int to unsigned")
  end
  local room = big.pow(2, signed and math.max(0, 8 * n - 1) or 8 * n)
  local fits = negative and big.compare(big.neg(v), room) <= 0
    or not negative and (big.compare(v, room) < 0 or n == 0 and v == 0)
  if not fits then util.raise("OverflowError", "int too big to convert") end
  if negative then v = big.add(v, big.pow(2, 8 * n)) end
  local digits = n > 0 and big.digits(v, 16) or ""
  digits = ("0"):rep(2 * n - #digits) .. digits
  local s = digits:gsub("%x%x", function (h)
    return string.char(tonumber(h, 16))
  end)
  return V.bytes(from_big and s or s:reverse())
end

-- int.from_bytes(bytes, byteorder="big", signed=False)
function M.from_bytes(s, order, signed)
  if not order_of(order) then s = s:reverse() end
  local v = s == "" and 0 or big.parse(s:gsub(".", function (c)
    return ("%02x"):format(c:byte())
  end), 16)
  if signed and s ~= "" and s:byte() > 127 then
    v = big.sub(v, big.pow(2, 8 * #s))
  end
  return v
end

-- ---- float ----

local float_fact = {real = function (v) return v end,
  imag = function () return 0.0 end}
local float = {}
function float.is_integer(v)
  return v - v == 0 and v == math.floor(v)
end
function float.conjugate(v) return v end

function float.as_integer_ratio(v)
  if v ~= v then
    util.raise("ValueError", "cannot convert NaN to integer ratio")
  elseif v - v ~= 0 then
    util.raise("OverflowError", "cannot convert Infinity to integer ratio")
  end
  local under = 0
  while v ~= math.floor(v) do
    v, under = v * 2, under + 1
  end
  return V.tuple({big.of_float(v), big.pow(2, under)}, 2)
end

function float.hex(v)
  if v ~= v then return "nan" end
  if v - v ~= 0 then return v > 0 and "inf" or "-inf" end
  local sign, lead, rest, power = ("%a"):format(v):match(
    "^(-?)0x(%x)%.?(%x*)p(.*)$")
  if v == 0 then return sign .. "0x0.0p+0" end
  if lead ~= "1" then                    -- a number below the normal ones
    return ("%s0x0.%sp-1022"):format(sign, rest)
  end
  local short = tonumber(power)
  if short < -1022 then                  -- glibc makes it normal
    local bits = tonumber(lead .. rest .. ("0"):rep(13 - #rest), 16)
    bits = bits >> (-1022 - short)
    return ("%s0x0.%013xp-1022"):format(sign, bits)
  end
  return ("%s0x%s.%sp%s"):format(sign, lead, rest .. ("0"):rep(13 - #rest),
    power)
end

-- float.fromhex(text)
function M.from_hex(text)
  local function refuse()
    util.raise("ValueError", "invalid hexadecimal floating-point string")
  end
  local s = text:match("^%s*(.-)%s*$"):lower()
  local sign, rest = s:match("^([+-]?)(.*)$")
  local factor = sign == "-" and -1.0 or 1.0
  if rest == "inf" or rest == "infinity" then return factor * math.huge end
  if rest == "nan" then return V.NAN end
  rest = rest:gsub("^0x", "")
  local whole, part, power = rest:match("^(%x*)%.?(%x*)p?([+-]?%d*)$")
  if not whole or #whole + #part == 0 or rest:find("p$")
     or rest:find("p") and power == "" or not rest:find("p") and power ~= ""
  then
    refuse()
  end
  local n = tonumber("0x" .. whole .. "." .. part .. "p"
    .. (power == "" and "0" or power))
  if not n then refuse() end
  if n == math.huge then
    util.raise("OverflowError", "hexadecimal value too large to represent as a "
      .. "float")
  end
  return factor * n
end

-- ---- complex ----

local complex = {conjugate = function (v) return V.complex(v.re, -v.im) end}

-- of(v): the facts and methods of a number's type.
function M.of(v)
  if V.is_complex(v) then return V.complex_fact, complex end
  if math.type(v) == "float" then return float_fact, float end
  return int_fact, int
end

M.int, M.float, M.complex = int, float, complex
M.facts = {int = int_fact, float = float_fact, complex = V.complex_fact,
  bool = int_fact}

return M
