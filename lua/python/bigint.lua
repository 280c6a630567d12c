-- SPDX-License-Identifier: MIT
-- python/bigint.lua: Python's integers beyond 64 bits.  Whatever fits is a
-- Lua integer; what does not is a table of limbs to base 2^24, the least one
-- first, with a sign.  Every function takes both and gives the smaller form.

local util = require "dt.util"

local BASE <const>, BITS <const> = 1 << 24, 24
local MOST <const> = 200000         -- bits of the largest one

local M = {}
local mt = {__name = "int"}

function M.is(v) return getmetatable(v) == mt end

local function too_large()
  return util.raise_for("absent", "OverflowError", "an integer of more "
    .. "than %d bits is not part of dtrepl", MOST)
end

local function trim(t)
  while #t > 0 and t[#t] == 0 do t[#t] = nil end
  return t
end

-- The limbs of a Lua integer or of one of ours; a new table.
local function limbs(v)
  if M.is(v) then
    return table.move(v, 1, #v, 1, {neg = v.neg})
  end
  local t = {neg = v < 0}
  if v == math.mininteger then
    t[1], t[2], t[3] = 0, 0, 1 << 15
    return t
  end
  v = math.abs(v)
  while v > 0 do
    t[#t + 1] = v & (BASE - 1)
    v = v >> BITS
  end
  return t
end

-- The same, which is only read.
local function read(v) return M.is(v) and v or limbs(v) end

local function compare_size(a, b)
  if #a ~= #b then return #a < #b and -1 or 1 end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] and -1 or 1 end
  end
  return 0
end

-- The smallest form of limbs.
local function small(t)
  trim(t)
  if #t < 3 or #t == 3 and t[3] < 1 << 15 then
    local v = (t[1] or 0) | (t[2] or 0) << BITS | (t[3] or 0) << 2 * BITS
    return t.neg and -v or v
  end
  if #t == 3 and t.neg and t[3] == 1 << 15 and t[1] == 0 and t[2] == 0 then
    return math.mininteger
  end
  t.neg = t.neg == true
  return setmetatable(t, mt)
end

local function sum(a, b)
  local t, carry = {}, 0
  for i = 1, math.max(#a, #b) do
    local s = (a[i] or 0) + (b[i] or 0) + carry
    t[i], carry = s & (BASE - 1), s >> BITS
  end
  if carry > 0 then t[#t + 1] = carry end
  return t
end

-- a - b, where a is no smaller.
local function less(a, b)
  local t, borrow = {}, 0
  for i = 1, #a do
    local s = a[i] - (b[i] or 0) - borrow
    borrow = s < 0 and 1 or 0
    t[i] = s + borrow * BASE
  end
  return trim(t)
end

local function plus(a, b)
  local t
  if a.neg == b.neg then
    t = sum(a, b)
    t.neg = a.neg
  elseif compare_size(a, b) >= 0 then
    t = less(a, b)
    t.neg = a.neg
  else
    t = less(b, a)
    t.neg = b.neg
  end
  return small(t)
end

function M.add(a, b) return plus(read(a), read(b)) end

function M.sub(a, b)
  b = limbs(b)
  b.neg = not b.neg
  return plus(read(a), b)
end

function M.neg(a)
  local t = limbs(a)
  t.neg = not t.neg
  return small(t)
end

function M.abs(a)
  local t = limbs(a)
  t.neg = false
  return small(t)
end

function M.mul(a, b)
  a, b = read(a), read(b)
  local n, m = #a, #b
  if (n + m) * BITS > MOST then too_large() end
  local t, s = {neg = a.neg ~= b.neg}, 0
  for k = 1, n + m do               -- a column: at most 2^14 products of 48 bits
    for i = k > m and k - m + 1 or 1, k < n and k or n do
      s = s + a[i] * b[k - i + 1]
    end
    t[k], s = s & (BASE - 1), s >> BITS
  end
  return small(t)
end

-- Quotient and rest of limbs by one limb.
local function by_limb(a, d)
  local q, rest = {}, 0
  for i = #a, 1, -1 do
    local s = rest << BITS | a[i]
    q[i], rest = s // d, s % d
  end
  return trim(q), rest
end

-- Quotient and rest of the sizes, limb by limb from the top; each limb of the
-- quotient is guessed from the top ones and put right.
local function by_limbs(a, b)
  if compare_size(a, b) < 0 then return {}, table.move(a, 1, #a, 1, {}) end
  if #b == 1 then
    local q, rest = by_limb(a, b[1])
    return q, trim {rest}
  end
  local scale = BASE // (b[#b] + 1)
  local function scaled(v)
    local t, carry = {}, 0
    for i = 1, #v do
      local s = v[i] * scale + carry
      t[i], carry = s & (BASE - 1), s >> BITS
    end
    t[#t + 1] = carry
    return t
  end
  local u, v, n = scaled(a), trim(scaled(b)), #b
  local q = {}
  for j = #u - n, 1, -1 do
    local top = u[j + n] << BITS | u[j + n - 1]
    local guess = math.min(top // v[n], BASE - 1)
    while guess * v[n - 1] > ((top - guess * v[n]) << BITS | u[j + n - 2])
      and top - guess * v[n] < BASE do
      guess = guess - 1
    end
    local borrow = 0
    for i = 1, n do
      local s = u[j + i - 1] - guess * v[i] - borrow
      borrow = -(s >> BITS | (s < 0 and ~(-1 >> BITS) or 0))
      u[j + i - 1] = s & (BASE - 1)
    end
    u[j + n] = u[j + n] - borrow
    if u[j + n] < 0 then
      guess = guess - 1
      local carry = 0
      for i = 1, n do
        local s = u[j + i - 1] + v[i] + carry
        u[j + i - 1], carry = s & (BASE - 1), s >> BITS
      end
      u[j + n] = u[j + n] + carry & (BASE - 1)
    end
    q[j] = guess
  end
  return trim(q), (by_limb(trim(u), scale))
end

-- a // b and a % b as Python rounds them.
function M.divmod(a, b)
  a, b = read(a), limbs(b)
  local q, rest = by_limbs(a, b)
  q.neg = a.neg ~= b.neg
  rest.neg = a.neg
  q, rest = small(q), small(rest)
  if rest ~= 0 and a.neg ~= b.neg then
    q, rest = M.sub(q, 1), M.add(rest, small(b))
  end
  return q, rest
end

function M.pow(a, b)
  if M.is(b) or (b > MOST and a ~= 0 and a ~= 1 and a ~= -1) then
    too_large()
  end
  local out = 1
  while b > 0 do
    if b & 1 == 1 then out = M.mul(out, a) end
    b = b >> 1
    if b > 0 then a = M.mul(a, a) end
  end
  return out
end

function M.compare(a, b)
  a, b = read(a), read(b)
  if a.neg ~= b.neg then return a.neg and -1 or 1 end
  local c = compare_size(a, b)
  return a.neg and -c or c
end

-- ---- bits: two's complement with as many limbs as it takes ----

local function complement(t, n)
  local out, carry = {}, 1
  for i = 1, n do
    local x = t[i] or 0
    if t.neg then
      x = (~x & (BASE - 1)) + carry
      carry = x >> BITS
      x = x & (BASE - 1)
    end
    out[i] = x
  end
  return out
end

local function bitwise(f)
  return function (a, b)
    a, b = read(a), read(b)
    local n = math.max(#a, #b) + 1
    local x, y, t = complement(a, n), complement(b, n), {}
    for i = 1, n do t[i] = f(x[i], y[i]) & (BASE - 1) end
    if t[n] >= BASE >> 1 then
      t.neg = true
      t = complement(t, n)
      t.neg = true
    end
    return small(t)
  end
end
M.band = bitwise(function (x, y) return x & y end)
M.bor = bitwise(function (x, y) return x | y end)
M.bxor = bitwise(function (x, y) return x ~ y end)

function M.bnot(a) return M.sub(M.neg(a), 1) end

function M.shl(a, n)
  a = read(a)
  if #a == 0 then return 0 end
  if M.is(n) or n + #a * BITS > MOST then too_large() end
  local whole, part, t, carry = n // BITS, n % BITS, {neg = a.neg}, 0
  for i = 1, whole do t[i] = 0 end
  for i = 1, #a do
    local s = a[i] << part | carry
    t[whole + i], carry = s & (BASE - 1), s >> BITS
  end
  t[whole + #a + 1] = carry
  return small(t)
end

function M.shr(a, n)
  local below = M.compare(a, 0) < 0
  if M.is(n) or n > MOST then return below and -1 or 0 end
  if below then return M.bnot(M.shr(M.bnot(a), n)) end
  a = read(a)
  local whole, part, t = n // BITS, n % BITS, {neg = false}
  for i = whole + 1, #a do
    t[i - whole] = (a[i] | (a[i + 1] or 0) << BITS) >> part & (BASE - 1)
  end
  return small(t)
end

function M.bit_length(a)
  local t = read(a)
  local top, n = t[#t] or 0, math.max(0, #t - 1) * BITS
  while top > 0 do top, n = top >> 1, n + 1 end
  return n
end

-- ---- texts and floats ----

local DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

-- How many digits are taken at once: a power of the base below 2^36.
local function most_digits(base)
  local n, v = 0, base
  while v < 1 << 36 do n, v = n + 1, v * base end
  return n
end

-- The digits without a sign.
function M.digits(a, base)
  local t, out = limbs(a), {}
  if #t == 0 then return "0" end
  local several = most_digits(base)
  while #t > 0 do
    local rest
    t, rest = by_limb(t, math.tointeger(base ^ several))
    for _ = 1, several do
      local d = rest % base + 1
      out[#out + 1], rest = DIGITS:sub(d, d), rest // base
    end
  end
  local text = table.concat(out):reverse():gsub("^0+", "")
  return text
end

function M.text(a)
  if not M.is(a) then return tostring(a) end
  return (a.neg and "-" or "") .. M.digits(a, 10)
end
mt.__tostring = M.text

-- The integer that digits to a base say, or nil.
function M.parse(text, base)
  if #text * 3 > MOST then too_large() end
  local t, several = {neg = false}, most_digits(base)
  for at = 1, #text, several do
    local part, scale = 0, 1
    for c in text:sub(at, at + several - 1):lower():gmatch(".") do
      local d = DIGITS:find(c, 1, true)
      if not d or d > base then return nil end
      part, scale = part * base + d - 1, scale * base
    end
    for i = 1, #t do
      local s = t[i] * scale + part
      t[i], part = s & (BASE - 1), s >> BITS
    end
    while part > 0 do
      t[#t + 1], part = part & (BASE - 1), part >> BITS
    end
  end
  return small(t)
end

function M.float(a)
  local t = limbs(a)
  if #t * BITS > 1024 + BITS then
    util.raise("OverflowError", "int too large to convert to float")
  end
  -- All but the top 64 bits only say whether something is left.
  local shift = math.max(0, M.bit_length(a) - 62)
  local size = M.abs(a)
  local top = M.shr(size, shift)
  if M.compare(M.shl(top, shift), size) ~= 0 then top = top | 1 end
  local v = (top + 0.0) * 2.0 ^ shift
  return t.neg and -v or v
end

local LEAST <const> = 1076          -- the least float is 2^-1074

-- a / b as the nearest float: a quotient of more bits than a float has, whose
-- last one says whether something is left.
function M.ratio(a, b)
  local shift = math.min(M.bit_length(b) - M.bit_length(a) + 66, LEAST)
  local q, rest = M.divmod(M.shl(M.abs(a), math.max(shift, 0)),
    M.shl(M.abs(b), math.max(-shift, 0)))
  if rest ~= 0 then q = M.bor(q, 1) end
  local half = shift // 2
  local v = M.float(q) * 2.0 ^ -half * 2.0 ^ (half - shift)
  if v == math.huge then
    util.raise("OverflowError", "integer division result too large for a float")
  end
  return (M.compare(a, 0) < 0) ~= (M.compare(b, 0) < 0) and -v or v
end

-- A float without a fraction, as an integer.
function M.of_float(x)
  local whole = math.tointeger(x)
  if whole then return whole end
  local shift = 0
  while not math.tointeger(x) do x, shift = x / 2, shift + 1 end
  return M.shl(math.tointeger(x), shift)
end

-- What the engine is given for one: it has 64 bits.
function M.refuse(a)
  return util.raise("RuntimeError", "Overflow when unpacking long long: %s",
    M.text(a))
end

return M
