-- SPDX-License-Identifier: MIT
-- python/codec.lua: texts to bytes and back.

local util = require "dt.util"

return function (V)
  local NAMES = {["utf-8"] = "utf-8", utf8 = "utf-8", u8 = "utf-8",
    ascii = "ascii", ["us-ascii"] = "ascii", ["latin-1"] = "latin-1",
    latin1 = "latin-1", ["iso-8859-1"] = "latin-1", ["iso8859-1"] = "latin-1"}

  -- The codec of a name.
  local function codec(name)
    local own = NAMES[name:lower():gsub("_", "-")]
    if own then return own end
    if name:lower():find("^utf") or name:lower():find("^cp") then
      return util.refuse("the encoding %s is not part of "
        .. "dtrepl", name)
    end
    return util.raise("LookupError", "unknown encoding: %s", name)
  end

  local function refuse(what, name, at, why, c)
    local e = V.unicode_error and V.unicode_error(what)
    if e then return e end
    if what == "UnicodeEncodeError" then
      util.raise(what, "'%s' codec can't encode character '%s' in position %d: "
        .. "%s", name, c, at, why)
    end
    return util.raise(what, "'%s' codec can't decode byte 0x%02x in position "
      .. "%d: %s", name, c, at, why)
  end

  local function escaped(code)
    return (code < 0x100 and "\\x%02x" or code < 0x10000 and "\\u%04x"
      or "\\U%08x"):format(code)
  end

  local function put_instead(how, code, name, at)
    if how == "ignore" then return "" end
    if how == "replace" then return "?" end
    if how == "backslashreplace" then return escaped(code) end
    if how == "xmlcharrefreplace" then return "&#" .. code .. ";" end
    if how ~= "strict" then
      util.raise("LookupError", "unknown error handler name '%s'", how)
    end
    local most = name == "ascii" and 128 or 256
    return refuse("UnicodeEncodeError", name, at, name == "utf-8"
      and "surrogates not allowed" or ("ordinal not in range(%d)"):format(most),
      escaped(code))
  end

  -- encoded(s, name, how): bytes of a text.
  function V.encoded(s, name, how)
    name = codec(name)
    local most = name == "ascii" and 127 or name == "latin-1" and 255 or nil
    if not s:find("[\x80-\xff]") then return V.bytes(s) end
    local out, at = {}, 0
    for c in s:gmatch(utf8.charpattern) do
      local code = utf8.codepoint(c, 1, 1, true)
      if most and code > most or code >= 0xd800 and code <= 0xdfff then
        c = put_instead(how, code, name, at)
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
        refuse("UnicodeDecodeError", "utf-8", bad - 1, starts
          and (bad + got > #s and "unexpected end of data"
          or "invalid continuation byte") or "invalid start byte", byte)
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

  -- decoded(s, name, how): the text that the bytes of a Lua string are.
  function V.decoded(s, name, how)
    name = codec(name)
    if not s:find("[\x80-\xff]") then return s end
    if name == "utf-8" then return decode_utf8(s, how) end
    local out = {}
    for i = 1, #s do
      local byte = s:byte(i)
      if name == "ascii" and byte > 127 then
        if how == "strict" then
          refuse("UnicodeDecodeError", "ascii", i - 1,
            "ordinal not in range(128)", byte)
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
