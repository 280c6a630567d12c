-- SPDX-License-Identifier: MIT
-- python/std/hashlib.lua: hashlib: md5 (RFC 1321), sha1, sha224, sha256, sha384
-- and sha512 (FIPS 180-4).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local big = require "python.bigint"

local builtin = V.builtin
local ALL <const> = 0xffffffff

-- The first `bits` bits of the fraction of the e-th root of primes, as many as
-- `n`, from the one after `skip`: an exact root of prime * 2^(e * bits).
local function roots(n, e, bits, skip)
  local out, p, seen = {}, 2, 0
  while #out < n do
    local prime = true
    for d = 2, math.floor(math.sqrt(p)) do prime = prime and p % d ~= 0 end
    seen = seen + (prime and 1 or 0)
    if prime and seen > (skip or 0) then
      local whole = big.shl(p, e * bits)
      local root = big.add(big.of_float(math.floor(p ^ (1 / e) * 2.0 ^ bits
        * (1 + 2.0 ^ -50))), 1)         -- not below it: Newton comes from above
      while true do
        local top = big.pow(root, e - 1)
        local next = big.divmod(big.add(big.mul(root, e - 1),
          (big.divmod(whole, top))), e)
        if big.compare(next, root) >= 0 then break end
        root = next
      end
      local low = big.band(root, big.sub(big.shl(1, bits), 1))
      if big.is(low) then low = big.sub(low, big.shl(1, 64)) end  -- as 64 bits
      out[#out + 1] = low
    end
    p = p + 1
  end
  return out
end

-- The text with what the standards put behind it: to a multiple of `block`
-- bytes with its length in bits in the last `width`.
local function padded(text, block, width, form)
  return text .. "\x80" .. ("\0"):rep((block - 1 - width - #text) % block)
    .. ("\0"):rep(width - 8) .. form:pack(8 * #text)
end

-- ---- SHA-2: words of 32 or of 64 bits ----

local NARROW <const> = {bits = 32, block = 64, rounds = 64, word = "I4",
  length = 8, turns = {{7, 18, 3}, {17, 19, 10}, {6, 11, 25}, {2, 13, 22}}}
local WIDE <const> = {bits = 64, block = 128, rounds = 80, word = "i8",
  length = 16, turns = {{1, 8, 7}, {19, 61, 6}, {14, 18, 41}, {28, 34, 39}}}

local function turner(bits)
  if bits == 64 then return function (x, n) return x >> n | x << 64 - n end end
  return function (x, n) return (x >> n | x << 32 - n) & ALL end
end

local function mix_sha2(kind, h, w, k)
  local turn, mask = turner(kind.bits), kind.bits == 64 and -1 or ALL
  local s, t = kind.turns[1], kind.turns[2]
  for i = 17, kind.rounds do
    local a, b = w[i - 15], w[i - 2]
    w[i] = w[i - 16] + (turn(a, s[1]) ~ turn(a, s[2]) ~ a >> s[3]) + w[i - 7]
      + (turn(b, t[1]) ~ turn(b, t[2]) ~ b >> t[3]) & mask
  end
  s, t = kind.turns[3], kind.turns[4]
  local a, b, c, d, e, f, g, x = table.unpack(h)
  for i = 1, kind.rounds do
    local u = x + (turn(e, s[1]) ~ turn(e, s[2]) ~ turn(e, s[3]))
      + (e & f ~ ~e & g) + k[i] + w[i]
    local v = (turn(a, t[1]) ~ turn(a, t[2]) ~ turn(a, t[3]))
      + (a & b ~ a & c ~ b & c)
    a, b, c, d, e, f, g, x = u + v & mask, a, b, c, d + u & mask, e, f, g
  end
  for i, v in ipairs {a, b, c, d, e, f, g, x} do h[i] = h[i] + v & mask end
end

local function sha2(kind, skip)
  local first, k
  return function (text)
    if not k then
      first, k = roots(8, 2, kind.bits, skip),
        roots(kind.rounds, 3, kind.bits)
      -- SHA-224 begins with the low halves of SHA-384's words.
      if kind.bits == 32 and skip then
        first = roots(8, 2, 64, skip)
        for i = 1, 8 do first[i] = first[i] & ALL end
      end
    end
    local h = {table.unpack(first)}
    local full = padded(text, kind.block, kind.length, ">I8")
    local form = ">" .. kind.word:rep(16)
    for at = 1, #full, kind.block do
      local w = {form:unpack(full, at)}
      w[17] = nil
      mix_sha2(kind, h, w, k)
    end
    return (">" .. kind.word:rep(8)):pack(table.unpack(h))
  end
end

-- ---- SHA-1 and MD5 ----

local turn <const> = turner(32)

local function sha1(text)
  local h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
  local full = padded(text, 64, 8, ">I8")
  for at = 1, #full, 64 do
    local w = {(">" .. ("I4"):rep(16)):unpack(full, at)}
    for i = 17, 80 do
      w[i] = turn(w[i - 3] ~ w[i - 8] ~ w[i - 14] ~ w[i - 16], 31)
    end
    local a, b, c, d, e = table.unpack(h)
    for i = 1, 80 do
      local f, k
      if i <= 20 then f, k = b & c | ~b & d & ALL, 0x5a827999
      elseif i <= 40 then f, k = b ~ c ~ d, 0x6ed9eba1
      elseif i <= 60 then f, k = b & c | b & d | c & d, 0x8f1bbcdc
      else f, k = b ~ c ~ d, 0xca62c1d6 end
      a, b, c, d, e = turn(a, 27) + f + e + k + w[i] & ALL, a, turn(b, 2), c, d
    end
    for i, v in ipairs {a, b, c, d, e} do h[i] = h[i] + v & ALL end
  end
  return (">" .. ("I4"):rep(5)):pack(table.unpack(h))
end

local SHIFTS <const> = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23},
  {6, 10, 15, 21}}
local PLACES <const> = {{1, 0}, {5, 1}, {3, 5}, {7, 0}}    -- of the word: a*i + b

local function md5(text)
  local h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}
  local full = padded(text, 64, 8, "<I8")
  for at = 1, #full, 64 do
    local w = {("<" .. ("I4"):rep(16)):unpack(full, at)}
    local a, b, c, d = table.unpack(h)
    for i = 0, 63 do
      local round = i // 16 + 1
      local f
      if round == 1 then f = b & c | ~b & d & ALL
      elseif round == 2 then f = d & b | ~d & c & ALL
      elseif round == 3 then f = b ~ c ~ d
      else f = c ~ (b | ~d & ALL) end
      local p = PLACES[round]
      local sum = a + f + math.floor(math.abs(math.sin(i + 1)) * 2 ^ 32)
        + w[(p[1] * i + p[2]) % 16 + 1] & ALL
      a, b, c, d = d, b + turn(sum, 32 - SHIFTS[round][i % 4 + 1]) & ALL, b, c
    end
    for i, v in ipairs {a, b, c, d} do h[i] = h[i] + v & ALL end
  end
  return ("<" .. ("I4"):rep(4)):pack(table.unpack(h))
end

-- ---- the module ----

-- By name: {digest of a text, its bytes, those of a block}.
local KINDS <const> = {
  md5 = {md5, 16, 64}, sha1 = {sha1, 20, 64},
  sha224 = {sha2(NARROW, 8), 28, 64}, sha256 = {sha2(NARROW), 32, 64},
  sha384 = {sha2(WIDE, 8), 48, 128}, sha512 = {sha2(WIDE), 64, 128},
}

-- The bytes that are hashed; texts are to be encoded before.
local function bytes_of(v)
  v = V.unbox(v)
  if V.is_bytes(v) then return v.s end
  if type(v) == "string" then
    util.raise("TypeError", "Strings must be encoded before hashing")
  end
  return util.raise("TypeError", "object supporting the buffer API required")
end

local function hash(name, text)
  local compute, size, block = table.unpack(KINDS[name])
  local h = {name = name, digest_size = size, block_size = block}
  local function digest() return compute(text):sub(1, size) end
  h.update = builtin(function (a)
    text = text .. bytes_of(a[1])
    return dt.None
  end, "update")
  h.digest = builtin(function () return V.bytes(digest()) end, "digest")
  h.copy = builtin(function () return hash(name, text) end, "copy")
  h.hexdigest = builtin(function ()
    return (digest():gsub(".", function (c) return ("%02x"):format(c:byte()) end))
  end, "hexdigest")
  return attrs.namespace(h)
end

local names, module = {}, {}
for name in pairs(KINDS) do
  names[#names + 1] = name
  module[name] = builtin(function (a, kw)
    local v = a[1]
    if v == nil and kw then v = V.dict_get(kw, "string") end
    return hash(name, v ~= nil and bytes_of(v) or "")
  end, name)
end
module.new = builtin(function (a)
  local name = type(a[1]) == "string" and a[1]:lower()
  if not KINDS[name] then
    util.raise("ValueError", "unsupported hash type %s", V.str(a[1]))
  end
  return hash(name, a[2] ~= nil and bytes_of(a[2]) or "")
end, "new")
module.algorithms_available = V.set(names)
module.algorithms_guaranteed = V.set(names)
attrs.provide("hashlib", attrs.namespace(module))

-- The digest of a Lua string, of 64 bytes.
return {sha512 = KINDS.sha512[1]}
