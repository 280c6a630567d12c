-- SPDX-License-Identifier: MIT
-- dt/debug/numbers.lua: the bytes of a tensor as text in an emitted program.
--
-- Base64 of the elements in row-major order, as they lie in memory (little
-- endian): the same numbers, to the last bit, here and in PyTorch.

local dt = require "dt"

local M = {}

local ABC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local digit, value = {}, {}
for i = 0, 63 do
  digit[i] = ABC:sub(i + 1, i + 1)
  value[ABC:byte(i + 1)] = i
end

-- encode(bytes) -> base64.
function M.encode(bytes)
  local out, n = {}, #bytes
  for i = 1, n - 2, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local x = a << 16 | b << 8 | c
    out[#out + 1] = digit[x >> 18] .. digit[x >> 12 & 63]
      .. digit[x >> 6 & 63] .. digit[x & 63]
  end
  local rest = n % 3
  if rest > 0 then
    local a, b = bytes:byte(n - rest + 1, n)
    local x = a << 16 | (b or 0) << 8
    out[#out + 1] = digit[x >> 18] .. digit[x >> 12 & 63]
      .. (rest == 2 and digit[x >> 6 & 63] or "=") .. "="
  end
  return table.concat(out)
end

-- decode(base64) -> bytes.
function M.decode(text)
  local out = {}
  for i = 1, #text, 4 do
    local a, b, c, d = text:byte(i, i + 3)
    local x = value[a] << 18 | value[b] << 12 | (value[c] or 0) << 6
      | (value[d] or 0)
    out[#out + 1] = string.char(x >> 16, x >> 8 & 255, x & 255)
      :sub(1, value[d] and 3 or value[c] and 2 or 1)
  end
  return table.concat(out)
end

-- numbers(text, dtype, shape) -> the plain tensor of these bytes.
function M.numbers(text, dtype, shape)
  return dt._from_bytes(M.decode(text), dtype, shape)
end

-- fill(x, text) -> x, whose local elements are these bytes now; gradients know
-- nothing of it.
function M.fill(x, text)
  dt.no_grad(function ()
    local t = x.is_dtensor and x:to_local() or x
    t:detach():copy_(M.numbers(text, t.dtype, t.shape))
  end)
  return x
end

-- dt.debug.drawn(seed, words, pair): the CPU's generator is where it is after so
-- many words from a seed; `pair`: 1 + the word where the pair of normal numbers
-- began whose second is left over, or 0.  Local.
function M.drawn(seed, words, pair)
  dt._rng(string.pack("=jjjjj", seed, words, pair, seed, 0))
end

return M
