-- SPDX-License-Identifier: MIT
-- python/std/math.lua: the module math, with CPython's numbers and errors.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"
local ops = require "python.ops"
local attrs = require "python.attrs"

local libm, builtin, None = dt._libm, V.builtin, dt.None
local binary, compare = ops.binary, ops.compare
local HUGE <const> = math.huge

-- ---- arguments ----

local function special(v, name)
  local f = type(v) == "table" and V.special(v, name) or nil
  return f and f()
end

-- A number as Python's float() of it.
local real
function real(v)
  if type(v) == "number" then return v * 1.0 end     -- keeps -0.0
  if type(v) == "boolean" then return v and 1.0 or 0.0 end
  if big.is(v) then return big.float(v) end
  if util.is_tensor(v) then return v:item() + 0.0 end
  local own = special(v, "__float__")
  if type(own) == "number" then return own + 0.0 end
  local plain = V.unbox(v)                       -- a number of a class of its own
  if not rawequal(plain, v) then return real(plain) end
  return util.raise("TypeError", "must be real number, not %s", V.type_name(v))
end

local function whole(v)
  if type(v) == "boolean" then return v and 1 or 0 end
  if math.type(v) == "integer" or big.is(v) then return v end
  local own = special(v, "__index__")
  if math.type(own) == "integer" then return own end
  local plain = V.unbox(v)
  if math.type(plain) == "integer" or big.is(plain) then return plain end
  return util.raise("TypeError", "'%s' object cannot be interpreted as an "
    .. "integer", V.type_name(v))
end

local function domain() util.raise("ValueError", "math domain error") end
local function range() util.raise("OverflowError", "math range error") end

local function count_of(name, a, n)
  if a.n ~= n then
    util.raise("TypeError", n == 1 and "math.%s() takes exactly one argument "
      .. "(%d given)" or "%s expected " .. n .. " arguments, got %d", name, a.n)
  end
end

-- ---- functions of floats ----

-- What is no number though the argument is one is out of the domain; what is
-- too large is out of range where the function grows, else out of the domain.
local function checked(r, grows, ...)
  local finite, number = true, true
  for _, x in ipairs {...} do
    finite = finite and x - x == 0
    number = number and x == x
  end
  if r ~= r and number then domain() end
  if (r == HUGE or r == -HUGE) and finite then
    if grows then range() else domain() end
  end
  return r
end

local functions = {}

local function one(name, f, grows)
  functions[name] = function (a)
    count_of(name, a, 1)
    local x = real(a[1])
    return checked(f(x), grows, x)
  end
end
local function two(name, f, grows)
  functions[name] = function (a)
    count_of(name, a, 2)
    local x, y = real(a[1]), real(a[2])
    return checked(f(x, y), grows, x, y)
  end
end

for _, name in ipairs {"acosh", "asinh", "atanh", "cbrt", "erf", "erfc",
  "log1p", "tanh"} do
  one(name, libm[name])
end
for _, name in ipairs {"cosh", "sinh", "exp2", "expm1"} do
  one(name, libm[name], true)
end
for _, name in ipairs {"sin", "cos", "tan", "asin", "acos", "sqrt"} do
  one(name, math[name])
end
one("atan", function (x) return math.atan(x) end)
one("exp", math.exp, true)
one("fabs", math.abs)
one("radians", math.rad)
one("degrees", function (x) return x * (180 / math.pi) end)
-- The sum of Lanczos that CPython's lgamma() takes (g = 6.0247…, 13 terms).
local OVER <const> = {23531376880.41075968857200767445163675473076,
  42919803642.64909876895789904700198885093263,
  35711959237.35566804944018545154716670596718,
  17921034426.03720969991975575445893111267403,
  6039542586.352028005064291644307297921069940,
  1439720407.311721673663223072794912393972061,
  248874557.8620541565114603864132294232163077,
  31426415.58540019438061423162831820536287788,
  2876370.628935372441225409051620849613599112,
  186056.2653952234950402949897160456992822505,
  8071.672002365816210638002902272250613822147,
  210.8242777515793458725097339207133627117644,
  2.506628274631000270164908177133837338626431}
local UNDER <const> = {0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0,
  45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0, 1925.0, 66.0, 1.0}
local function lanczos(x)
  local over, under = 0.0, 0.0
  if x < 5.0 then
    for i = #OVER, 1, -1 do over, under = over * x + OVER[i], under * x + UNDER[i] end
  else
    for i = 1, #OVER do over, under = over / x + OVER[i], under / x + UNDER[i] end
  end
  return over / under
end
local G <const> = 6.024680040776729583740234375
local LOG_PI <const> = 1.144729885849400174143427351353058711647
local function sin_pi(x)
  local y = math.fmod(math.abs(x), 2.0)
  local n = math.floor(2.0 * y + 0.5)
  if n == 0 then return math.sin(math.pi * y) end
  if n == 1 then return math.cos(math.pi * (y - 0.5)) end
  if n == 2 then return math.sin(math.pi * (1.0 - y)) end
  if n == 3 then return -math.cos(math.pi * (y - 1.5)) end
  return math.sin(math.pi * (y - 2.0))
end

local function log_gamma(x)
  if x == 1.0 or x == 2.0 then return 0.0 end
  local size = math.abs(x)
  if size < 1e-20 then return -math.log(size) end
  local r = math.log(lanczos(size)) - G
  r = r + (size - 0.5) * (math.log(size + G - 0.5) - 1.0)
  if x > 0 then return r end
  return LOG_PI - math.log(math.abs(sin_pi(size))) - math.log(size) - r
end

-- y ^ (size - 0.5) in two steps where one would overflow.
local function scaled(r, y, size, by)
  if size < 140.0 then return by(r, y ^ (size - 0.5)) end
  local root = y ^ (size / 2.0 - 0.25)
  return by(by(r, root), root)
end

-- gamma(x) of what is neither whole and small nor at its ends.
local function gamma(x)
  local size = math.abs(x)
  if size < 1e-20 then return 1.0 / x end
  if size > 200.0 then return x < 0 and 0.0 / sin_pi(x) or HUGE end
  local y = size + (G - 0.5)
  local z = size > G - 0.5 and y - size - (G - 0.5) or y - (G - 0.5) - size
  z = z * G / y
  if x < 0 then
    local r = -math.pi / sin_pi(size) / size * math.exp(y) / lanczos(size)
    return scaled(r - z * r, y, size, function (a, b) return a / b end)
  end
  local r = lanczos(size) / math.exp(y)
  return scaled(r + z * r, y, size, function (a, b) return a * b end)
end

one("lgamma", function (x)
  if x <= 0 and x == math.floor(x) and x > -HUGE then domain() end
  return math.abs(x) < HUGE and log_gamma(x) or libm.lgamma(x)
end, true)
one("gamma", function (x)
  if x == 0 or x < 0 and x == math.floor(x) then domain() end
  if x == math.floor(x) and x <= 23 or x ~= x or x == HUGE then
    return libm.gamma(x)
  end
  return gamma(x)
end, true)
for _, name in ipairs {"atan2", "copysign", "nextafter"} do
  functions[name] = function (a)
    count_of(name, a, 2)
    return libm[name](real(a[1]), real(a[2]))
  end
end
two("remainder", libm.remainder)
two("fmod", libm.fmod)
two("pow", function (x, y)
  if x == 0 and y < 0 and y > -HUGE then domain() end
  return libm.pow(x, y)
end, true)

function functions.hypot(a)
  local r = 0.0
  for i = 1, a.n do r = libm.hypot(r, real(a[i])) end
  return r
end
function functions.dist(a)
  local p, np = V.items(a[1])
  local q, nq = V.items(a[2])
  if np ~= nq then
    util.raise("ValueError", "both points must have the same number of "
      .. "dimensions")
  end
  local r = 0.0
  for i = 1, np do r = libm.hypot(r, real(p[i]) - real(q[i])) end
  return r
end

-- Logarithms; those of integers of any size come from their highest bits.
local function logarithm(f, two_of)
  return function (v)
    if big.is(v) and ops.compare[">"](v, 0) then
      local shift = math.max(0, big.bit_length(v) - 62)
      return f(binary[">>"](v, shift) + 0.0) + shift * two_of
    end
    if big.is(v) then domain() end
    local x = real(v)
    if x <= 0 then domain() end
    return f(x)
  end
end
local ln = logarithm(math.log, math.log(2))
for name, f in pairs {log2 = logarithm(libm.log2, 1.0),
  log10 = logarithm(libm.log10, libm.log10(2.0))} do
  functions[name] = function (a)
    count_of(name, a, 1)
    return f(a[1])
  end
end
function functions.log(a)
  if a.n == 0 or a.n > 2 then
    util.raise("TypeError", "log expected at %s %d argument%s, got %d",
      a.n == 0 and "least" or "most", a.n == 0 and 1 or 2, a.n == 0 and ""
      or "s", a.n)
  end
  if a[2] == nil then return ln(a[1]) end
  local over = ln(a[2])
  if over == 0 then util.raise("ZeroDivisionError", "float division by zero") end
  return ln(a[1]) / over
end

-- ---- parts and neighbours of floats ----

function functions.frexp(a)
  local x = real(a[1])
  if x - x ~= 0 then return V.tuple {x, 0} end
  return V.tuple {libm.frexp(x)}
end
function functions.ldexp(a)
  local x, e = real(a[1]), whole(a[2])
  if big.is(e) then
    e = compare[">"](e, 0) and 100000 or -100000
  end
  return checked(libm.ldexp(x, e), true, x)
end
function functions.modf(a)
  local x = real(a[1])
  if x == HUGE or x == -HUGE then
    return V.tuple {libm.copysign(0.0, x), x}
  end
  local int = libm.trunc(x)
  return V.tuple {libm.copysign(x - int, x), int}
end
function functions.ulp(a)
  local x = math.abs(real(a[1]))
  if x ~= x or x == HUGE then return x end
  local above = libm.nextafter(x, HUGE)
  return above == HUGE and x - libm.nextafter(x, 0.0) or above - x
end

-- floor, ceil, trunc: integers of any size.
local function integral(name, method, f)
  functions[name] = function (a)
    count_of(name, a, 1)
    local v = a[1]
    if math.type(v) == "integer" or big.is(v) then return v end
    local own = special(v, method)
    if own ~= nil then return own end
    local x = real(v)
    if x ~= x then
      util.raise("ValueError", "cannot convert float NaN to integer")
    elseif x == HUGE or x == -HUGE then
      util.raise("OverflowError", "cannot convert float infinity to integer")
    end
    x = f(x)
    return math.tointeger(x) or big.of_float(x)
  end
end
integral("floor", "__floor__", function (x)
  local t = libm.trunc(x)
  return t > x and t - 1 or t
end)
integral("ceil", "__ceil__", function (x)
  local t = libm.trunc(x)
  return t < x and t + 1 or t
end)
integral("trunc", "__trunc__", libm.trunc)

function functions.isnan(a)
  local x = real(a[1])
  return x ~= x
end
function functions.isinf(a) return math.abs(real(a[1])) == HUGE end
function functions.isfinite(a)
  local x = real(a[1])
  return x - x == 0
end
function functions.isclose(a, kw)
  local function given(name, default)
    local v = kw and V.dict_get(kw, name)
    return v == nil and default or real(v)
  end
  local x, y = real(a[1]), real(a[2])
  local rel, abs = given("rel_tol", 1e-9), given("abs_tol", 0.0)
  if rel < 0 or abs < 0 then
    util.raise("ValueError", "tolerances must be non-negative")
  end
  if x == y then return true end
  if math.abs(x) == HUGE or math.abs(y) == HUGE then return false end
  local d = math.abs(x - y)
  return d <= rel * math.abs(y) or d <= rel * math.abs(x) or d <= abs
end

-- ---- sums and products ----

-- The exact sum, rounded once: partial sums that do not overlap.
function functions.fsum(a)
  local items, n = V.items(a[1])
  local parts, odd, number = {}, 0.0, true
  for i = 1, n do
    local x, kept = real(items[i]), 0
    if x - x ~= 0 then
      odd, number = odd + x, number and x == x
    else
      for k = 1, #parts do
        local y = parts[k]
        if math.abs(x) < math.abs(y) then x, y = y, x end
        local high = x + y
        local low = y - (high - x)
        if high - high ~= 0 then
          util.raise("OverflowError", "intermediate overflow in fsum")
        end
        if low ~= 0 then kept = kept + 1; parts[kept] = low end
        x = high
      end
      for k = #parts, kept + 1, -1 do parts[k] = nil end
      parts[kept + 1] = x
    end
  end
  if odd ~= 0 or odd ~= odd then
    if odd ~= odd and number then
      util.raise("ValueError", "-inf + inf in fsum")
    end
    return odd
  end
  local k = #parts
  if k == 0 then return 0.0 end
  local high, low = parts[k], 0.0
  k = k - 1
  while k > 0 do
    local x, y = high, parts[k]
    high = x + y
    low = y - (high - x)
    k = k - 1
    if low ~= 0 then break end
  end
  -- Half of the last place is rounded to even by what is below it.
  if k > 0 and (low < 0 and parts[k] < 0 or low > 0 and parts[k] > 0) then
    local y = low * 2.0
    local x = high + y
    if y == x - high then high = x end
  end
  return high
end
function functions.prod(a, kw)
  count_of("prod", a, 1)
  local items, n = V.items(a[1])
  local start = kw and V.dict_get(kw, "start")
  local p = start == nil and 1 or start
  for i = 1, n do p = binary["*"](p, items[i]) end
  return p
end

-- ---- functions of integers ----

local function gcd(x, y)
  while compare["!="](y, 0) do x, y = y, binary["%"](x, y) end
  return compare["<"](x, 0) and binary["-"](0, x) or x
end
function functions.gcd(a)
  local g = 0
  for i = 1, a.n do g = gcd(g, whole(a[i])) end
  return g
end
function functions.lcm(a)
  local m = 1
  for i = 1, a.n do
    local x = whole(a[i])
    if compare["=="](x, 0) or m == 0 then
      m = 0
    else
      m = binary["*"](m, binary["//"](x, gcd(m, x)))
    end
  end
  return compare["<"](m, 0) and binary["-"](0, m) or m
end

local function not_negative(name, v)
  v = whole(v)
  if compare["<"](v, 0) then
    util.raise("ValueError", "%s must be a non-negative integer", name)
  end
  return v
end
-- low * (low + 1) * … * high; small factors are multiplied with each other
-- before a large number is.
local function product_of(low, high)
  if math.type(high) == "integer" and high < 1 << 31 and high - low > 32 then
    local middle = (low + high) // 2
    return big.mul(product_of(low, middle), product_of(middle + 1, high))
  end
  local out, part = 1, 1
  if math.type(low) == "integer" and math.type(high) == "integer"
     and high < 1 << 31 then
    for i = low, high do
      part = part * i
      if part >= 1 << 31 then out, part = big.mul(out, part), 1 end
    end
    return big.mul(out, part)
  end
  local i = low
  while compare["<="](i, high) do
    if math.type(i) == "integer" and i < 1 << 30 then
      part = part * i
      if part >= 1 << 31 then out, part = big.mul(out, part), 1 end
    else
      out = big.mul(out, i)
    end
    i = big.add(i, 1)
  end
  return big.mul(out, part)
end

-- n over k, as far as each step of it fits into 64 bits; nil: it does not.
local function small_comb(n, k)
  if k > n - k then k = n - k end
  local out = 1
  for i = 1, k do
    if out > (1 << 62) // n then return nil end
    out = out * (n - k + i) // i
  end
  return out
end
function functions.comb(a)
  count_of("comb", a, 2)
  local n, k = not_negative("n", a[1]), not_negative("k", a[2])
  if compare[">"](k, n) then return 0 end
  local small = math.type(n) == "integer" and small_comb(n, k)
  if small then return small end
  local other = binary["-"](n, k)
  if compare["<"](other, k) then k = other end
  if big.is(k) then
    util.raise("OverflowError", "min(n - k, k) must not exceed "
      .. "9223372036854775807")
  end
  return (big.divmod(product_of(big.add(big.sub(n, k), 1), n),
    product_of(1, k)))
end
function functions.perm(a)
  local n = not_negative("n", a[1])
  local k = (a[2] == nil or a[2] == None) and n or not_negative("k", a[2])
  if compare[">"](k, n) then return 0 end
  if big.is(k) then
    util.raise("OverflowError", "k must not exceed 9223372036854775807")
  end
  return product_of(big.add(big.sub(n, k), 1), n)
end
local last_factorial                -- {n =, value = n!}: those after it follow
function functions.factorial(a)
  count_of("factorial", a, 1)
  local n = whole(a[1])
  if compare["<"](n, 0) then
    util.raise("ValueError", "factorial() not defined for negative values")
  elseif big.is(n) then
    util.raise("OverflowError", "factorial() argument should not exceed "
      .. "9223372036854775807")
  end
  if last_factorial and n >= last_factorial.n
     and n - last_factorial.n < last_factorial.n then
    last_factorial = {n = n, value = big.mul(last_factorial.value,
      product_of(last_factorial.n + 1, n))}
  else
    last_factorial = {n = n, value = product_of(2, n)}
  end
  return last_factorial.value
end
function functions.isqrt(a)
  count_of("isqrt", a, 1)
  local n = whole(a[1])
  if compare["<"](n, 0) then
    util.raise("ValueError", "isqrt() argument must be nonnegative")
  elseif compare["=="](n, 0) then
    return 0
  end
  if math.type(n) == "integer" and n < 1 << 52 then
    return math.tointeger(math.floor(math.sqrt(n)))     -- a float holds n
  end
  local bits = big.is(n) and big.bit_length(n) or 64
  local x = bits > 1000 and binary["<<"](1, (bits + 1) // 2)
    or big.add(big.of_float(math.floor(math.sqrt(real(n)) * (1 + 2.0 ^ -50))), 1)
  while true do
    local y = binary["//"](binary["+"](x, binary["//"](n, x)), 2)
    if compare[">="](y, x) then return x end
    x = y
  end
end

local module = {pi = math.pi, e = math.exp(1), tau = 2 * math.pi, inf = HUGE,
  nan = V.NAN}
for name, f in pairs(functions) do module[name] = builtin(f, name) end
attrs.provide("math", attrs.namespace(module))

return module
