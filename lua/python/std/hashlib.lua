-- SPDX-License-Identifier: MIT
-- python/std/hashlib.lua: hashlib.sha256 (FIPS 180-4).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"

local builtin = V.builtin

-- ---- SHA-256 ----

local ALL = 0xffffffff

-- The first 32 bits of the fraction of the e-th root of the first n primes.
local function roots(n, e)
  local out, p = {}, 2
  while #out < n do
    local prime = true
    for d = 2, math.floor(math.sqrt(p)) do prime = prime and p % d ~= 0 end
    if prime then
      local r = p ^ (1 / e)
      out[#out + 1] = math.floor((r - math.floor(r)) * 2 ^ 32)
    end
    p = p + 1
  end
  return out
end

local function turn(x, n) return (x >> n | x << 32 - n) & ALL end

-- The 64 words of the block that begins at `at`.
local function words(text, at)
  local w = {(">" .. ("I4"):rep(16)):unpack(text, at)}
  for i = 17, 64 do
    local a, b = w[i - 15], w[i - 2]
    w[i] = w[i - 16] + (turn(a, 7) ~ turn(a, 18) ~ a >> 3) + w[i - 7]
      + (turn(b, 17) ~ turn(b, 19) ~ b >> 10) & ALL
  end
  return w
end

local function mix(h, w, k)
  local a, b, c, d, e, f, g, x = table.unpack(h)
  for i = 1, 64 do
    local t = x + (turn(e, 6) ~ turn(e, 11) ~ turn(e, 25))
      + (e & f ~ ~e & g) + k[i] + w[i]
    local u = (turn(a, 2) ~ turn(a, 13) ~ turn(a, 22)) + (a & b ~ a & c ~ b & c)
    a, b, c, d, e, f, g, x = t + u & ALL, a, b, c, d + t & ALL, e, f, g
  end
  for i, v in ipairs {a, b, c, d, e, f, g, x} do h[i] = h[i] + v & ALL end
end

-- The digest of a text, in hexadecimal digits.
local function sha256(text)
  local h, k = roots(8, 2), roots(64, 3)
  local full = text .. "\x80" .. ("\0"):rep((55 - #text) % 64)
    .. (">I8"):pack(8 * #text)
  for at = 1, #full, 64 do mix(h, words(full, at), k) end
  return (("%08x"):rep(8)):format(table.unpack(h))
end

-- The bytes that are hashed; texts are to be encoded before.
local function bytes_of(v)
  v = V.unbox(v)
  if V.is_bytes(v) then return v.s end
  if type(v) == "string" then
    util.raise("TypeError", "Strings must be encoded before hashing")
  end
  util.raise("TypeError", "object supporting the buffer API required")
end

local hash
function hash(text)
  local h = {name = "sha256", digest_size = 32}
  h.update = builtin(function (a)
    text = text .. bytes_of(a[1])
    return dt.None
  end, "update")
  h.digest = builtin(function ()
    return V.bytes((sha256(text):gsub("..", function (two)
      return string.char(tonumber(two, 16))
    end)))
  end, "digest")
  h.copy = builtin(function () return hash(text) end, "copy")
  h.hexdigest = builtin(function () return sha256(text) end, "hexdigest")
  return attrs.namespace(h)
end

attrs.provide("hashlib", attrs.namespace {
  sha256 = builtin(function (a)
    return hash(a[1] ~= nil and bytes_of(a[1]) or "")
  end, "sha256")})
