-- SPDX-License-Identifier: MIT
-- python/bytes.lua: bytes and bytearray: {s = a Lua string}.  Equal bytes
-- are one object, so that tables find them as keys.

local util = require "dt.util"

return function (V)
  local mt = {__name = "bytes"}
  local array_mt = {__name = "bytearray"}
  local part_mt = {__name = "bytes"}
  local made = setmetatable({}, {__mode = "v"})

  -- bytes(s): of a Lua string.
  function V.bytes(s)
    local v = made[s]
    if not v then
      v = setmetatable({s = s}, mt)
      made[s] = v
    end
    return v
  end

  function V.bytearray(s) return setmetatable({s = s}, array_mt) end

  -- part_of_bytes(b, first, step, n): n bytes of b, of which `first` is the first
  -- (from 0), as they are whenever their s is asked for; an s of n bytes that is
  -- set is written into b.
  function V.part_of_bytes(b, first, step, n)
    return setmetatable({of = b, first = first, step = step, n = n}, part_mt)
  end

  function part_mt.__index(p, key)
    if key ~= "s" then return nil end
    local s, out = p.of.s, {}
    if p.step == 1 then return s:sub(p.first + 1, p.first + p.n) end
    for i = 1, p.n do
      local at = p.first + (i - 1) * p.step + 1
      out[i] = s:sub(at, at)
    end
    return table.concat(out)
  end

  function part_mt.__newindex(p, _, s)
    local old, out = p.of.s, {}
    if p.step == 1 then
      p.of.s = old:sub(1, p.first) .. s .. old:sub(p.first + p.n + 1)
      return
    end
    for i = 1, #old do out[i] = old:sub(i, i) end
    for i = 1, p.n do out[p.first + (i - 1) * p.step + 1] = s:sub(i, i) end
    p.of.s = table.concat(out)
  end

  function V.is_bytes(v)
    local m = getmetatable(v)
    return m == mt or m == array_mt or m == part_mt
  end
  function V.is_bytearray(v) return getmetatable(v) == array_mt end

  -- like(v, s): bytes of v's kind.
  function V.bytes_like(v, s)
    return getmetatable(v) == array_mt and V.bytearray(s) or V.bytes(s)
  end

  local SHORT = {["\\"] = "\\\\", ["\t"] = "\\t", ["\n"] = "\\n",
    ["\r"] = "\\r"}

  mt.__tostring = function (v)
    local q = v.s:find("'", 1, true) and not v.s:find('"', 1, true) and '"'
      or "'"
    local text = v.s:gsub("[%c\\\x7f-\xff]", function (c)
      return SHORT[c] or ("\\x%02x"):format(c:byte())
    end)
    if q == "'" then text = text:gsub("'", "\\'") end
    return "b" .. q .. text .. q
  end
  array_mt.__tostring = function (v)
    return "bytearray(" .. mt.__tostring(v) .. ")"
  end

  for _, m in ipairs {mt, array_mt, part_mt} do
    m.truth = function (v) return v.s ~= "" end
    m.items = function (v)
      local out = {}
      for i = 1, #v.s do out[i] = v.s:byte(i) end
      return out, #v.s
    end
    m.contains = function (v, x)
      x = V.unbox(x)
      if V.is_bytes(x) then return v.s:find(x.s, 1, true) ~= nil end
      x = V.index_of(x)
      if math.type(x) ~= "integer" then
        util.raise("TypeError", "a bytes-like object is required, not '%s'",
          V.type_name(x))
      end
      if x < 0 or x > 255 then
        util.raise("ValueError", "byte must be in range(0, 256)")
      end
      return v.s:find(string.char(x), 1, true) ~= nil
    end
    m.__eq = function (a, b)
      return V.is_bytes(a) and V.is_bytes(b) and a.s == b.s
    end
  end
  mt.hash = function (v, hash) return hash(v.s) end
  part_mt.hash, part_mt.__tostring = mt.hash, mt.__tostring
  array_mt.hash = function ()
    util.raise("TypeError", "unhashable type: 'bytearray'")
  end
end
