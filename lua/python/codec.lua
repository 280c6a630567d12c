-- SPDX-License-Identifier: MIT
-- python/codec.lua: texts to bytes and back.

local util = require "dt.util"
local more = require "python.codec_more"

return function (V)
  local NAMES = {["utf-8"] = "utf-8", utf8 = "utf-8", u8 = "utf-8",
    ascii = "ascii", ["us-ascii"] = "ascii", ["latin-1"] = "latin-1",
    latin1 = "latin-1", ["iso-8859-1"] = "latin-1", ["iso8859-1"] = "latin-1"}

  -- The codec of a name.
  local function codec(name)
    local plain = name:lower():gsub("_", "-")
    local own = NAMES[plain] or more.name_of(plain)
    if own then return own end
    if name:lower():find("^utf") or name:lower():find("^cp") then
      return util.refuse("the encoding %s is not part of "
        .. "dtrepl", name)
    end
    return util.raise("LookupError", "unknown encoding: %s", name)
  end

  -- Of a text or bytes, from the place `at` to before `stop`.
  local function refuse(what, name, object, at, stop, why)
    error(V.unicode_error(what, name, object, at, stop, why), 0)
  end

  -- V.code_at(s, at): the character of a text at a place, as a number.
  function V.code_at(s, at)
    return utf8.codepoint(s, utf8.offset(s, at + 1), nil, true)
  end

  -- Has the codec no byte for the character?
  local function lacks(name, code)
    local most = name == "ascii" and 127 or name == "latin-1" and 255
    return most and code > most or code >= 0xd800 and code <= 0xdfff
      or name == "cp1252" and not more.has(code)
  end

  -- The place behind the characters from `at` on that the codec has not.
  local function run_end(name, s, at)
    local stop = at
    for _, code in utf8.codes(s:sub(utf8.offset(s, at + 1)), true) do
      if not lacks(name, code) then break end
      stop = stop + 1
    end
    return stop
  end

  local function escaped(code)
    return (code < 0x100 and "\\x%02x" or code < 0x10000 and "\\u%04x"
      or "\\U%08x"):format(code)
  end

  local function put_instead(how, code, name, at, s)
    if how == "ignore" then return "" end
    if how == "replace" then return "?" end
    if how == "backslashreplace" then return escaped(code) end
    if how == "xmlcharrefreplace" then return "&#" .. code .. ";" end
    if how ~= "strict" then
      util.raise("LookupError", "unknown error handler name '%s'", how)
    end
    local most = name == "ascii" and 128 or 256
    return refuse("UnicodeEncodeError", name == "cp1252" and "charmap" or name, s, at,
      run_end(name, s, at), name == "cp1252" and "character maps to <undefined>"
      or name:find "^utf" and "surrogates not allowed"
      or ("ordinal not in range(%d)"):format(most))
  end

  -- encoded(s, name, how): bytes of a text.
  function V.encoded(s, name, how)
    name = codec(name)
    if more.name_of(name) then
      return V.bytes(more.encode(s, name, function (code, at)
        return put_instead(how, code, name, at, s)
      end))
    end
    local most = name == "ascii" and 127 or name == "latin-1" and 255 or nil
    if not s:find("[\x80-\xff]") then return V.bytes(s) end
    local out, at = {}, 0
    for c in s:gmatch(utf8.charpattern) do
      local code = utf8.codepoint(c, 1, 1, true)
      if most and code > most or code >= 0xd800 and code <= 0xdfff then
        c = put_instead(how, code, name, at, s)
      elseif most then
        c = string.char(code)
      end
      at = at + 1
      out[at] = c
    end
    return V.bytes(table.concat(out))
  end

  local function decode_utf8(s, how)
    local out, at = {}, 1
    while at <= #s do
      local ok, bad = utf8.len(s, at)
      if ok then
        out[#out + 1] = s:sub(at)
        break
      end
      out[#out + 1] = s:sub(at, bad - 1)
      local byte = s:byte(bad)
      local starts = byte >= 0xc2 and byte <= 0xf4
      local need = byte >= 0xf0 and 4 or byte >= 0xe0 and 3 or 2
      local got = 1
      while starts and got < need and (s:byte(bad + got) or 0) & 0xc0 == 0x80
            do
        got = got + 1
      end
      if how == "strict" then
        refuse("UnicodeDecodeError", "utf-8", V.bytes(s), bad - 1, bad - 1 + got,
          starts and (bad + got > #s and "unexpected end of data"
          or "invalid continuation byte") or "invalid start byte")
      elseif how == "replace" then
        out[#out + 1] = "\u{fffd}"
      elseif how == "backslashreplace" then
        out[#out + 1] = ("\\x%02x"):format(byte)
        got = 1
      elseif how ~= "ignore" then
        util.refuse("the error handler %s is not part of "
          .. "dtrepl", how)
      end
      at = bad + (how == "backslashreplace" and 1 or got)
    end
    return table.concat(out)
  end

  -- Bytes of one of codec_more.lua's.
  local function decode_more(s, name, how)
    return (more.decode(s, name, function (own, at, why)
      if how == "replace" then return "\u{fffd}" end
      if how == "ignore" then return "" end
      if how == "backslashreplace" then return ("\\x%02x"):format(s:byte(at)) end
      return refuse("UnicodeDecodeError", own, V.bytes(s), at - 1,
        own:find "^utf" and math.min(#s, at + 1) or at, why)
    end))
  end

  -- decoded(s, name, how): the text that the bytes of a Lua string are.
  function V.decoded(s, name, how)
    name = codec(name)
    if more.name_of(name) then
      s = decode_more(s, name, how)
      return name == "utf-8-sig" and decode_utf8(s, how) or s
    end
    if not s:find("[\x80-\xff]") then return s end
    if name == "utf-8" then return decode_utf8(s, how) end
    local out = {}
    for i = 1, #s do
      local byte = s:byte(i)
      if name == "ascii" and byte > 127 then
        if how == "strict" then
          refuse("UnicodeDecodeError", "ascii", V.bytes(s), i - 1, i,
            "ordinal not in range(128)")
        end
        out[i] = how == "replace" and "\u{fffd}" or how == "backslashreplace"
          and ("\\x%02x"):format(byte) or ""
      else
        out[i] = utf8.char(byte)
      end
    end
    return table.concat(out)
  end
end
