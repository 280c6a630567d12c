-- SPDX-License-Identifier: MIT
-- python/std/random.lua: Python's module random, with CPython's numbers:
-- the Mersenne twister MT19937 seeded by an array, and what CPython makes of
-- its words.  A program that sets no seed begins with seed 0 here, so that runs
-- can be repeated.
-- Source: Lib/random.py and Modules/_randommodule.c of CPython 3.11 (what they
-- give was compared; Matsumoto and Nishimura 1998).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"
local hashlib = require "python.std.hashlib"
local attrs = require "python.attrs"
local args = require "python.args"
local classes = require "python.class"

local None = dt.None
local N, HALF = 624, 397

-- ---- the twister ----

local function init(s)
  local mt = {[0] = s & 0xffffffff}
  for i = 1, N - 1 do
    mt[i] = (1812433253 * (mt[i - 1] ~ (mt[i - 1] >> 30)) + i) & 0xffffffff
  end
  return mt
end

local function init_by_array(key)
  local mt, i, j = init(19650218), 1, 0
  for _ = 1, math.max(N, #key) do
    mt[i] = ((mt[i] ~ ((mt[i - 1] ~ (mt[i - 1] >> 30)) * 1664525))
      + key[j + 1] + j) & 0xffffffff
    i, j = i + 1, (j + 1) % #key
    if i >= N then mt[0], i = mt[N - 1], 1 end
  end
  for _ = 1, N - 1 do
    mt[i] = ((mt[i] ~ ((mt[i - 1] ~ (mt[i - 1] >> 30)) * 1566083941)) - i)
      & 0xffffffff
    i = i + 1
    if i >= N then mt[0], i = mt[N - 1], 1 end
  end
  mt[0] = 0x80000000
  return {mt = mt, at = N}
end

-- The words of an integer of any size, the lowest first.
local function limbs_of(n)
  local key = {}
  repeat
    key[#key + 1] = V.unbox(big.band(n, 0xffffffff))
    n = big.shr(n, 32)
  until n == 0
  return key
end

local function of_seed(seed)
  if type(seed) == "boolean" then seed = seed and 1 or 0 end
  -- Of a text: its bytes and their digest, as one integer.
  local text = V.is_bytes(seed) and seed.s or seed
  if type(text) == "string" then
    local digits = (text .. hashlib.sha512(text)):gsub(".", function (c)
      return ("%02x"):format(c:byte())
    end)
    seed = big.parse(digits, 16)
  end
  if math.type(seed) == "float" then
    seed = V.hash(seed)               -- of 64 bits without a sign
    if seed < 0 then seed = big.add(seed, big.shl(1, 64)) end
  end
  if big.is(seed) then return init_by_array(limbs_of(big.abs(seed))) end
  if math.type(seed) ~= "integer" then
    util.refuse("random.seed of %s is not part of dtrepl; "
      .. "give an int", V.type_name(seed))
  end
  local n, key = seed < 0 and -seed or seed, {}
  repeat
    key[#key + 1] = n & 0xffffffff
    n = n >> 32
  until n == 0
  return init_by_array(key)
end

local function twist(mt)
  for i = 0, N - 1 do
    local y = (mt[i] & 0x80000000) | (mt[(i + 1) % N] & 0x7fffffff)
    mt[i] = mt[(i + HALF) % N] ~ (y >> 1) ~ (y & 1 == 1 and 0x9908b0df or 0)
  end
end

local function word(r)
  if r.at >= N then
    twist(r.mt)
    r.at = 0
  end
  local y = r.mt[r.at]
  r.at = r.at + 1
  y = y ~ (y >> 11)
  y = y ~ ((y << 7) & 0x9d2c5680)
  y = y ~ ((y << 15) & 0xefc60000)
  return (y ~ (y >> 18)) & 0xffffffff
end

-- In [0, 1), 53 bits.
local function uniform(r)
  local a, b = word(r) >> 5, word(r) >> 6
  return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0)
end

local function bits(r, k)
  if k <= 32 then return k == 0 and 0 or word(r) >> (32 - k) end
  local low = word(r)
  if k < 64 then return low | (bits(r, k - 32) << 32) end
  return big.add(big.shl(bits(r, k - 32), 32), low)
end

-- In 0 … n - 1.
local function below(r, n)
  local k = 0
  if big.is(n) then
    local v
    repeat v = bits(r, big.bit_length(n)) until big.compare(v, n) < 0
    return v
  end
  while n >> k > 0 do k = k + 1 end
  local v = bits(r, k)
  while v >= n do v = bits(r, k) end
  return v
end

-- ---- what is made of it ----

local function shuffle(r, list, n)
  for i = n, 2, -1 do
    local j = below(r, i) + 1
    list[i], list[j] = list[j], list[i]
  end
end

local function sample(r, items, n, k)
  if k < 0 or k > n then
    util.raise("ValueError", "Sample larger than population or is negative")
  end
  local size, out = 21, {}
  if k > 5 then size = size + 4 ^ math.ceil(math.log(k * 3) / math.log(4)) end
  if n <= size then
    local pool = table.move(items, 1, n, 1, {})
    for i = 1, k do
      local j = below(r, n - i + 1) + 1
      out[i], pool[j] = pool[j], pool[n - i + 1]
    end
    return V.list(out, k)
  end
  local seen = {}
  for i = 1, k do
    local j = below(r, n)
    while seen[j] do j = below(r, n) end
    seen[j], out[i] = true, items[j + 1]
  end
  return V.list(out, k)
end

-- Each item as often as its count says.
local function repeated(items, n, counts)
  local times, m = V.items(counts)
  if m ~= n then
    util.raise("ValueError", "The number of counts does not match the "
      .. "population")
  end
  local out, k = {}, 0
  for i = 1, n do
    for _ = 1, times[i] do
      k = k + 1
      out[k] = items[i]
    end
  end
  return out, k
end

local function gauss(r, mu, sigma)
  local z = r.spare
  r.spare = nil
  if z == nil then
    local angle = uniform(r) * 2 * math.pi
    local radius = math.sqrt(-2.0 * math.log(1.0 - uniform(r)))
    z, r.spare = math.cos(angle) * radius, math.sin(angle) * radius
  end
  return mu + z * sigma
end

local MAGIC = 4 * math.exp(-0.5) / math.sqrt(2.0)
local function normal(r, mu, sigma)
  while true do
    local u1 = uniform(r)
    local u2 = 1.0 - uniform(r)
    local z = MAGIC * (u1 - 0.5) / u2
    if z * z / 4.0 <= -math.log(u2) then return mu + z * sigma end
  end
end

-- gamma(r, alpha, beta): Cheng's way above 1, Ahrens and Dieter's below.
local function gamma(r, alpha, beta)
  if alpha <= 0 or beta <= 0 then
    util.raise("ValueError", "gammavariate: alpha and beta must be > 0.0")
  elseif alpha == 1 then
    return -math.log(1.0 - uniform(r)) * beta
  end
  local root = math.sqrt(2.0 * alpha - 1.0)
  local b, c = alpha - math.log(4.0), alpha + root
  local e = (math.exp(1) + alpha) / math.exp(1)
  while true do
    local u = uniform(r)
    if alpha < 1 then
      local p = e * u
      local x = p <= 1.0 and p ^ (1.0 / alpha) or -math.log((e - p) / alpha)
      local u1 = uniform(r)
      if p > 1.0 and u1 <= x ^ (alpha - 1.0)
         or p <= 1.0 and u1 <= math.exp(-x) then
        return x * beta
      end
    elseif 1e-7 < u and u < 0.9999999 then
      local u2 = 1.0 - uniform(r)
      local v = math.log(u / (1.0 - u)) / root
      local x, z = alpha * math.exp(v), u * u * u2
      local t = b + c * v - x
      if t + 1.0 + math.log(4.5) - 4.5 * z >= 0.0 or t >= math.log(z) then
        return x * beta
      end
    end
  end
end

-- An angle of von Mises' distribution (Fisher 1993).
local function von_mises(r, a)
  local mu, kappa, turn = a.mu, a.kappa, 2 * math.pi
  if kappa <= 1e-6 then return turn * uniform(r) end
  local s = 0.5 / kappa
  local t = s + math.sqrt(1.0 + s * s)
  local z
  while true do
    local u1 = uniform(r)
    z = math.cos(math.pi * u1)
    local d, u2 = z / (t + z), uniform(r)
    if u2 < 1.0 - d * d or u2 <= (1.0 - d) * math.exp(d) then break end
  end
  local q = 1.0 / t
  local f = (q + z) / (1.0 + q * z)
  if uniform(r) > 0.5 then return (mu + math.acos(f)) % turn end
  return (mu - math.acos(f)) % turn
end

-- An argument of randrange() as an integer.
local function whole(v, place)
  local n = V.index_of(v)
  if math.type(n) == "float" then n = math.tointeger(n) end
  if math.type(n) == "integer" or big.is(n) then return n end
  if math.type(v) == "float" then
    util.raise("ValueError", "non-integer %s for randrange()", place == 1
      and "arg 1" or place == 2 and "stop" or "step")
  end
  return util.raise("TypeError", "'%s' object cannot be interpreted as an "
    .. "integer", V.type_name(v))
end

local SMALL <const> = 1 << 61       -- sums of two such stay integers of Lua

local function is_small(v) return v < SMALL and v > -SMALL end

-- One of start, start + step, … below stop; `alone`: only that was given.
local function range(r, start, stop, step, alone)
  if step == 1 and math.type(start) == "integer"
     and math.type(stop) == "integer" and is_small(start) and is_small(stop)
     and start < stop then
    return start + below(r, stop - start)
  end
  start, stop, step = whole(start, 1), whole(stop, 2), whole(step, 3)
  local width = big.sub(stop, start)
  if step == 0 then
    util.raise("ValueError", "zero step for randrange()")
  end
  local n = step == 1 and width or big.divmod(big.add(width,
    big.compare(step, 0) > 0 and big.sub(step, 1) or big.add(step, 1)), step)
  if big.compare(n, 0) <= 0 then
    util.raise("ValueError", step == 1 and not alone
      and "empty range for randrange() (%s, %s, %s)"
      or "empty range for randrange()", big.text(start), big.text(stop),
      big.text(width))
  end
  return big.add(start, big.mul(step, below(r, n)))
end

-- The sums of the weights up to each item, of which the last is a total.
local function sums_of(weights, cumulated, n)
  local items, m = V.items(cumulated or weights)
  local sums, total = {}, 0
  for i = 1, m do
    total = cumulated and items[i] or total + items[i]
    sums[i] = total
  end
  if m ~= n then
    util.raise("ValueError", "The number of weights does not match the "
      .. "population")
  elseif total <= 0 then
    util.raise("ValueError", "Total of weights must be greater than zero")
  elseif total - total ~= 0 then
    util.raise("ValueError", "Total of weights must be finite")
  end
  return sums, total + 0.0
end

local function choices(r, items, n, k, weights, cumulated)
  local out, sums, total = {}, nil, nil
  if weights and cumulated then
    util.raise("TypeError", "Cannot specify both weights and cumulative "
      .. "weights")
  elseif weights or cumulated then
    sums, total = sums_of(weights, cumulated, n)
  end
  for i = 1, k do
    local at
    if sums then
      local x = uniform(r) * total
      local low, high = 1, n            -- the first whose sum is above x
      while low < high do
        local mid = (low + high) // 2
        if x < sums[mid] then high = mid else low = mid + 1 end
      end
      at = low
    else
      at = math.floor(uniform(r) * n) + 1
      if n == 0 then
        util.raise("IndexError", "list index out of range")
      end
    end
    out[i] = items[at]
  end
  return V.list(out, k)
end

local function or_else(v, default)
  if v == nil or v == None then return default end
  return v
end

-- name = {signature, body(state, arguments by name)}
local METHODS = {
  seed = {{"a?", "version?"}, function (r, a)
    local fresh = of_seed(or_else(a.a, 0))
    r.mt, r.at, r.spare = fresh.mt, fresh.at, nil
    return None
  end},
  random = {{}, uniform},
  getrandbits = {{"k"}, function (r, a) return bits(r, a.k) end},
  uniform = {{"a", "b"}, function (r, a)
    return a.a + (a.b - a.a) * uniform(r)
  end},
  randrange = {{"start", "stop?", "step?"}, function (r, a)
    if or_else(a.stop) == nil then return range(r, 0, a.start, 1, true) end
    return range(r, a.start, a.stop, or_else(a.step, 1))
  end},
  randint = {{"a", "b"}, function (r, a)
    if math.type(a.b) == "integer" and is_small(a.b) then
      return range(r, a.a, a.b + 1, 1)
    end
    return range(r, a.a, big.add(whole(a.b, 2), 1), 1)
  end},
  choice = {{"seq"}, function (r, a)
    local items, n = V.items(a.seq)
    if n == 0 then
      util.raise("IndexError", "Cannot choose from an empty sequence")
    end
    return items[below(r, n) + 1]
  end},
  choices = {{"population", "weights?", "*", "cum_weights?", "k?"},
    function (r, a)
      local items, n = V.items(a.population)
      return choices(r, items, n, or_else(a.k, 1), or_else(a.weights),
        or_else(a.cum_weights))
    end},
  shuffle = {{"x"}, function (r, a)
    shuffle(r, a.x, a.x.n)
    return None
  end},
  sample = {{"population", "k", "*", "counts?"}, function (r, a)
    local given, items, n = a.population, nil, nil
    if V.is_set(given) or V.is_dict(given) then
      util.raise("TypeError", "Population must be a sequence.  For dicts or "
        .. "sets, use sorted(d).")
    elseif V.is_range(given) and not big.is(given.n) then
      n = given.n                       -- whose numbers are not all made
      items = setmetatable({}, {__index = function (_, i)
        return V.range_item(given, i - 1)
      end})
    else
      items, n = V.items(given)
    end
    if or_else(a.counts) ~= nil then items, n = repeated(items, n, a.counts) end
    return sample(r, items, n, a.k)
  end},
  gauss = {{"mu?", "sigma?"}, function (r, a)
    return gauss(r, or_else(a.mu, 0.0), or_else(a.sigma, 1.0))
  end},
  normalvariate = {{"mu?", "sigma?"}, function (r, a)
    return normal(r, or_else(a.mu, 0.0), or_else(a.sigma, 1.0))
  end},
  expovariate = {{"lambd?"}, function (r, a)
    return -math.log(1.0 - uniform(r)) / or_else(a.lambd, 1.0)
  end},
  triangular = {{"low?", "high?", "mode?"}, function (r, a)
    local low, high = or_else(a.low, 0.0), or_else(a.high, 1.0)
    local u, mode = uniform(r), or_else(a.mode)
    if high == low then return low end
    local c = mode == nil and 0.5 or (mode - low) / (high - low)
    if u > c then u, c, low, high = 1.0 - u, 1.0 - c, high, low end
    return low + (high - low) * math.sqrt(u * c)
  end},
  lognormvariate = {{"mu?", "sigma?"}, function (r, a)
    return math.exp(normal(r, or_else(a.mu, 0.0), or_else(a.sigma, 1.0)))
  end},
  vonmisesvariate = {{"mu", "kappa"}, von_mises},
  gammavariate = {{"alpha", "beta"}, function (r, a)
    return gamma(r, a.alpha, a.beta)
  end},
  betavariate = {{"alpha", "beta"}, function (r, a)
    local y = gamma(r, a.alpha, 1.0)
    return y == 0 and 0.0 or y / (y + gamma(r, a.beta, 1.0))
  end},
  paretovariate = {{"alpha"}, function (r, a)
    return (1.0 - uniform(r)) ^ (-1.0 / a.alpha)
  end},
  weibullvariate = {{"alpha", "beta"}, function (r, a)
    return a.alpha * (-math.log(1.0 - uniform(r))) ^ (1.0 / a.beta)
  end},
  randbytes = {{"n"}, function (r, a)
    local out, n = {}, a.n
    while n > 0 do                  -- as CPython, which draws one number
      local k = math.min(n, 4)
      out[#out + 1] = ("<I" .. k):pack(bits(r, 8 * k))
      n = n - k
    end
    return V.bytes(table.concat(out))
  end},
  getstate = {{}, function (r)
    local words = {}
    for i = 0, N - 1 do words[i + 1] = r.mt[i] end
    words[N + 1] = r.at
    return V.tuple({3, V.tuple(words, N + 1), r.spare or None}, 3)
  end},
  setstate = {{"state"}, function (r, a)
    if a.state[1] ~= 3 then
      util.raise("ValueError", "state with version %s passed to "
        .. "Random.setstate() of version 3", V.str(a.state[1]))
    end
    local mt = {}
    for i = 0, N - 1 do mt[i] = a.state[2][i + 1] end
    r.mt, r.at, r.spare = mt, a.state[2][N + 1], or_else(a.state[3])
    return None
  end},
}

-- ---- random, random.Random ----

local names, members = {}, {}
local shared = of_seed(0)

for name, m in pairs(METHODS) do
  names[name] = args.def(name, m[1], function (a) return m[2](shared, a) end)
  local signature = {"self", table.unpack(m[1])}
  members[name] = args.def(name, signature, function (a)
    return m[2](rawget(a.self, "random_state"), a)
  end)
  rawset(members[name], "binds", true)
end

members.__init__ = args.def("__init__", {"self", "x?"}, function (a)
  rawset(a.self, "random_state", of_seed(or_else(a.x, 0)))
  return None
end)
rawset(members.__init__, "binds", true)
names.Random = classes.make("Random", {}, members, {}, {})
rawset(names.Random, "__home", "random")

attrs.provide("random", attrs.namespace(names))

return names
