-- SPDX-License-Identifier: MIT
-- python/codec_more.lua: UTF-16, UTF-32, UTF-8 with a mark before it and Windows'
-- Latin letters.  fail(what, name, at, why, c) raises what codec.lua does.

local M = {}

-- Bytes of a unit, and how string.pack writes it; "=": with a mark before it.
local UNITS <const> = {["utf-16"] = {2, "<I2", "="}, ["utf-16-le"] = {2, "<I2"},
  ["utf-16-be"] = {2, ">I2"}, ["utf-32"] = {4, "<I4", "="},
  ["utf-32-le"] = {4, "<I4"}, ["utf-32-be"] = {4, ">I4"}}

-- Of 0x80 to 0x9f; 0: nothing.
local CP1252 <const> = {[0] = 0x20ac, 0, 0x201a, 0x192, 0x201e, 0x2026, 0x2020,
  0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17d, 0, 0, 0x2018, 0x2019,
  0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0,
  0x17e, 0x178}
local BACK <const> = {}
for i = 0, 31 do BACK[CP1252[i]] = 0x80 + i end
BACK[0] = nil

local NAMES <const> = {["cp1252"] = "cp1252", ["windows-1252"] = "cp1252",
  ["utf-8-sig"] = "utf-8-sig", utf16 = "utf-16", utf32 = "utf-32"}
for name in pairs(UNITS) do
  NAMES[name] = name
  NAMES[(name:gsub("(%d)-", "%1"))] = name
end

-- name_of(name): the codec's own name, or nil where it is none of these.
function M.name_of(name) return NAMES[name] end

local function put_unit(code, unit)
  if unit[1] == 4 or code < 0x10000 then return unit[2]:pack(code) end
  code = code - 0x10000
  return unit[2]:pack(0xd800 + (code >> 10)) .. unit[2]:pack(0xdc00 + (code & 0x3ff))
end

-- has(code): has cp1252 the character?
function M.has(code)
  return code < 0x80 or code >= 0xa0 and code <= 0xff or BACK[code] ~= nil
end

-- encode(s, name, instead): instead(code, at): what stands for a character that
-- the codec has not.
function M.encode(s, name, instead)
  if name == "utf-8-sig" then return "\xef\xbb\xbf" .. s end
  local unit, out, at = UNITS[name], {}, 0
  if unit and unit[3] then out[1] = unit[2]:pack(0xfeff) end
  for _, code in utf8.codes(s, true) do
    local c
    if unit then
      c = (code < 0xd800 or code > 0xdfff) and put_unit(code, unit)
    elseif M.has(code) then
      c = string.char(BACK[code] or code)
    end
    if not c then
      c = instead(code, at)
      if unit then c = c:gsub(".", function (x) return put_unit(x:byte(), unit) end) end
    end
    out[#out + 1], at = c, at + 1
  end
  return table.concat(out)
end

local function decode_1252(s, bad)
  return (s:gsub("()([\x80-\xff])", function (at, c)
    local byte = c:byte()
    local code = byte < 0xa0 and CP1252[byte - 0x80] or byte
    if code == 0 then return bad("charmap", at, "character maps to <undefined>") end
    return utf8.char(code)
  end))
end

-- The unit by the mark at the head of the text, and where the text begins.
local function marked(s, unit)
  if not unit[3] then return unit, 1 end
  local other = {unit[1], unit[2]:gsub("<", ">")}
  if #s < unit[1] then return unit, 1 end
  if unit[2]:unpack(s) == 0xfeff then return unit, 1 + unit[1] end
  if other[2]:unpack(s) == 0xfeff then return other, 1 + unit[1] end
  return unit, 1
end

-- decode(s, name, bad): bad(codec, at, why): what stands for the byte there.
function M.decode(s, name, bad)
  if name == "utf-8-sig" then return s:gsub("^\xef\xbb\xbf", "") end
  if name == "cp1252" then return decode_1252(s, bad) end
  local unit, at = marked(s, UNITS[name])
  local own = name:match("^utf%-%d+") .. (unit[2]:find "<" and "-le" or "-be")
  local out = {}
  while at <= #s do
    local code, next = nil, at + unit[1]
    if next > #s + 1 then
      out[#out + 1] = bad(own, at, "truncated data")
      break
    end
    code = unit[2]:unpack(s, at)
    if unit[1] == 2 and code >= 0xd800 and code < 0xdc00 and next + 1 <= #s then
      local low = unit[2]:unpack(s, next)
      if low >= 0xdc00 and low < 0xe000 then
        code, next = 0x10000 + ((code - 0xd800) << 10) + low - 0xdc00, next + 2
      end
    end
    local wrong = code >= 0xd800 and code < 0xe000 or code > 0x10ffff
    out[#out + 1] = wrong and bad(own, at, unit[1] == 2 and "illegal encoding"
      or "code point not in range(0x110000)") or utf8.char(code)
    at = next
  end
  return table.concat(out)
end

return M
