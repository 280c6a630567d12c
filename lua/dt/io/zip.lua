-- SPDX-License-Identifier: MIT
-- dt/io/zip.lua: archives of stored (not compressed) files, laid out as those
-- of torch.save: the bytes of each file begin at a multiple of 64.
--
-- Pure.  A list of files is {{name, text}, …} (in length: {name, bytes}).

local dt = require "dt"
local util = require "dt.util"

local M = {}

local MOST = 0xFFFFFFFF                  -- what four bytes hold
local DESCRIBED, UTF8 = 8, 0x800         -- flags: sizes behind the data

local function ceil64(n) return (n + 63) // 64 * 64 end

-- Where the data of a file begins whose header is at byte `at` (from 0): the
-- header, the name, and an extra field of at least four bytes.
local function data_at(at, name) return ceil64(at + 30 + #name + 4) end

-- The descriptor behind the data is left out where there are none.
local function behind(bytes) return bytes > 0 and 16 or 0 end

-- length(files): bytes of the archive.
function M.length(files)
  local at, directory = 0, 0
  for _, f in ipairs(files) do
    at = data_at(at, f[1]) + f[2] + behind(f[2])
    directory = directory + 46 + #f[1]
  end
  return at + directory + 56 + 20 + 22   -- three ends of the directory
end

local function header(name, flags, pad)
  return string.pack("<c4I2I2I2I2I2I4I4I4I2I2", "PK\3\4", 0, flags, 0, 0, 0, 0,
    0, 0, #name, 4 + pad) .. name .. "FB" .. string.pack("<I2", pad)
    .. ("Z"):rep(pad)
end

local function entry(name, flags, crc, bytes, at)
  return string.pack("<c4I2I2I2I2I2I2I4I4I4I2I2I2I2I2I4I4", "PK\1\2", 0, 0,
    flags, 0, 0, 0, crc, bytes, bytes, #name, 0, 0, 0, 0, 0, at) .. name
end

-- The end of the directory, in the form for large archives and the plain one.
local function ends(n, bytes, at)
  return string.pack("<c4I8I2I2I4I4I8I8I8I8", "PK\6\6", 44, 0x31e, 45, 0, 0, n,
    n, bytes, at) .. string.pack("<c4I4I8I4", "PK\6\7", 0, at + bytes, 1)
    .. string.pack("<c4I2I2I2I2I4I4I2", "PK\5\6", 0, 0, n, n, bytes, at, 0)
end

-- write(files) -> the archive as a list of texts.  ValueError where it is
-- larger than 4 GiB.
function M.write(files)
  local out, directory, at = {}, {}, 0
  for _, f in ipairs(files) do
    local name, text = f[1], f[2]
    local first = data_at(at, name)
    if first + #text > MOST then
      util.raise("ValueError", "an archive holds up to 4 GiB")
    end
    local flags = UTF8 + (#text > 0 and DESCRIBED or 0)
    local crc = dt._crc32(text)
    out[#out + 1] = header(name, flags, first - at - 30 - #name - 4)
    out[#out + 1] = text
    if #text > 0 then
      out[#out + 1] = string.pack("<c4I4I4I4", "PK\7\8", crc, #text, #text)
    end
    directory[#directory + 1] = entry(name, flags, crc, #text, at)
    at = first + #text + behind(#text)
  end
  local list = table.concat(directory)
  out[#out + 1] = list
  out[#out + 1] = ends(#files, #list, at)
  return out
end

-- ---- reading ----

-- string.unpack inside the text, or bad().
local function take(format, text, at, bad)
  local size = string.packsize(format)
  if at < 0 or at > #text - size then bad("failed finding central directory") end
  return string.unpack(format, text, at + 1)
end

-- The number of files, and where their directory is.
local function directory_of(text, bad)
  local first, found = math.max(1, #text - 65557)
  for at = #text - 21, first, -1 do
    if text:byte(at) == 80 and text:sub(at, at + 3) == "PK\5\6" then
      found = at - 1
      break
    end
  end
  if not found then bad("failed finding central directory") end
  local n, bytes, at = take("<I2I4I4", text, found + 10, bad)
  if n == 0xFFFF or bytes == MOST or at == MOST then
    local mark, _, far = take("<c4I4I8", text, found - 20, bad)
    if mark ~= "PK\6\7" then bad("failed finding central directory") end
    n, bytes, at = take("<I8I8I8", text, far + 32, bad)
  end
  if n < 0 or bytes < 0 or at < 0 or at > #text or bytes > #text - at
     or n > bytes // 46 then
    bad("invalid header or archive is corrupted")
  end
  return n, at
end

-- Sizes and a place that are in the extra field, where four bytes are short.
local function far_fields(text, at, last, values, bad)
  while at + 4 <= last do
    local id, size = take("<I2I2", text, at, bad)
    at = at + 4
    if id == 1 then
      for i, v in ipairs(values) do
        if v == MOST then
          values[i] = take("<I8", text, at, bad)
          at = at + 8
        end
      end
      return
    end
    at = at + size
  end
end

-- read(text, bad) -> {name = {first = (from 0), length =}}; bad(reason) raises.
function M.read(text, bad)
  local n, at = directory_of(text, bad)
  local out, sum = {}, 0
  for _ = 1, n do
    local mark, _, method, _, packed, size, name_n, extra_n, comment_n =
      take("<c4I6I2I8I4I4I2I2I2", text, at, bad)
    local place = take("<I4", text, at + 42, bad)
    local after = at + 46 + name_n + extra_n
    if mark ~= "PK\1\2" or after > #text then
      bad("invalid header or archive is corrupted")
    end
    local name = text:sub(at + 47, at + 46 + name_n)
    local far = {size, packed, place}
    far_fields(text, at + 46 + name_n, after, far, bad)
    size, packed, place = far[1], far[2], far[3]
    if method ~= 0 or size ~= packed then bad("unsupported method") end
    local local_mark, _, own_name, own_extra = take("<c4c22I2I2", text, place,
      bad)
    local first = place + 30 + own_name + own_extra
    sum = sum + math.max(0, size)
    if local_mark ~= "PK\3\4" or size < 0 or first > #text
       or size > #text - first or sum > #text then
      bad("invalid header or archive is corrupted")
    end
    out[name] = {first = first, length = size}
    at = after + comment_n
  end
  return out
end

return M
