-- SPDX-License-Identifier: MIT
-- python/bytes_methods.lua: the methods of bytes and bytearray: those of
-- texts on single bytes, and their own.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local text = require("python.text").methods

local M = {}
local array = {}
local None = dt.None

local function raise_type(...) util.raise("TypeError", ...) end

local COUNTS = {find = true, rfind = true, index = true, rindex = true,
  count = true}

-- An argument of a method as text.lua takes it.
local function inward(v, name)
  if V.is_bytes(v) then return v.s end
  if V.is_tuple(v) then
    local out = {}
    for i = 1, v.n do out[i] = inward(v[i], name) end
    return V.tuple(out, v.n)
  end
  if type(V.unbox(v)) == "string" then
    raise_type(COUNTS[name] and "argument should be integer or bytes-like "
      .. "object, not 'str'" or "a bytes-like object is required, not 'str'")
  end
  return v
end

local function outward(self, v)
  if type(v) == "string" then return V.bytes_like(self, v) end
  if V.is_seq(v) then
    for i = 1, v.n do v[i] = outward(self, v[i]) end
  end
  return v
end

for name in ([[split rsplit splitlines partition rpartition find rfind index
  rindex count startswith endswith strip lstrip rstrip removeprefix
  removesuffix upper lower capitalize title swapcase isdigit isalpha isspace
  isalnum isupper islower istitle replace ljust rjust center zfill
  expandtabs]]):gmatch "%S+" do
  M[name] = function (self, args, kw)
    local list = {}
    for i = 1, args.n do list[i] = inward(args[i], name) end
    if COUNTS[name] and math.type(list[1]) == "integer" then
      if list[1] < 0 or list[1] > 255 then
        util.raise("ValueError", "byte must be in range(0, 256)")
      end
      list[1] = string.char(list[1])
    end
    local named
    if kw then
      named = V.dict()
      for k, v in V.each(kw) do V.dict_set(named, k, inward(v, name)) end
    end
    return outward(self, text[name](self.s, V.list(list, args.n), named, true))
  end
end

function M.isascii(self) return not self.s:find("[\x80-\xff]") end

function M.join(self, args)
  local items, n = V.items(args[1])
  local parts = {}
  for i = 1, n do
    if not V.is_bytes(items[i]) then
      raise_type("sequence item %d: expected a bytes-like object, %s found",
        i - 1, V.type_name(items[i]))
    end
    parts[i] = items[i].s
  end
  return V.bytes_like(self, table.concat(parts, self.s))
end

function M.decode(self, args, kw)
  local name = args[1] or kw and V.dict_get(kw, "encoding") or "utf-8"
  local how = args[2] or kw and V.dict_get(kw, "errors") or "strict"
  return V.decoded(self.s, name, how)
end

function M.hex(self, args)
  local sep, size = args[1] and V.unbox(args[1]) or "", args[2] or 1
  local out = {}
  for i = 1, #self.s do out[i] = ("%02x"):format(self.s:byte(i)) end
  if sep == "" or size == 0 then return table.concat(out) end
  if V.is_bytes(sep) then sep = sep.s end
  local text_out, n = "", #out
  for i = 1, n do
    text_out = text_out .. out[i]
    local edge = size > 0 and (n - i) % size == 0 or size < 0 and i % -size == 0
    if i < n and edge then text_out = text_out .. sep end
  end
  return text_out
end

local function from_hex(s)
  s = V.unbox(s)
  if type(s) ~= "string" then
    raise_type("fromhex() argument must be str, not %s", V.type_name(s))
  end
  local out, at = {}, 1
  while true do
    at = s:match("^[ \t-\r]*()", at)
    if at > #s then return table.concat(out) end
    local pair = s:match("^%x%x", at)
    if not pair then
      util.raise("ValueError", "non-hexadecimal number found in fromhex() arg "
        .. "at position %d", at - 1 + (s:find("^%x", at) and 1 or 0))
    end
    out[#out + 1] = string.char(tonumber(pair, 16))
    at = at + 2
  end
end
function M.fromhex(self, args)
  return V.bytes_like(self, from_hex(args[1]))
end

function M.maketrans(_, args)
  local from, to = args[1].s, args[2].s
  if #from ~= #to then
    util.raise("ValueError", "maketrans arguments must have same length")
  end
  local map = {}
  for i = 0, 255 do map[i] = string.char(i) end
  for i = 1, #from do map[from:byte(i)] = to:sub(i, i) end
  return V.bytes(table.concat(map, "", 0, 255))
end

function M.translate(self, args, kw)
  local map = args[1]
  local gone = args[2] or kw and V.dict_get(kw, "delete") or V.bytes ""
  local out = {}
  for i = 1, #self.s do
    local c = self.s:sub(i, i)
    if not gone.s:find(c, 1, true) then
      out[#out + 1] = map == None and c or map.s:sub(c:byte() + 1,
        c:byte() + 1)
    end
  end
  return V.bytes_like(self, table.concat(out))
end

-- ---- bytearray's own ----

local function byte_of(v)
  v = V.index_of(v)
  if math.type(v) ~= "integer" then
    raise_type("'%s' object cannot be interpreted as an integer",
      V.type_name(v))
  elseif v < 0 or v > 255 then
    util.raise("ValueError", "byte must be in range(0, 256)")
  end
  return string.char(v)
end

-- A Lua string of what bytes() and extend take.
local function bytes_of(v)
  if V.is_bytes(v) then return v.s end
  local items, n = V.items(v)
  local out = {}
  for i = 1, n do out[i] = byte_of(items[i]) end
  return table.concat(out)
end

function array.append(self, args)
  self.s = self.s .. byte_of(args[1])
  return None
end
function array.extend(self, args)
  self.s = self.s .. bytes_of(args[1])
  return None
end
function array.clear(self)
  self.s = ""
  return None
end
function array.copy(self) return V.bytearray(self.s) end
function array.reverse(self)
  self.s = self.s:reverse()
  return None
end
function array.insert(self, args)
  local i = args[1]
  if i < 0 then i = math.max(0, i + #self.s) end
  self.s = self.s:sub(1, i) .. byte_of(args[2]) .. self.s:sub(i + 1)
  return None
end
function array.pop(self, args)
  local i = args[1] or -1
  if #self.s == 0 then util.raise("IndexError", "pop from empty bytearray") end
  if i < 0 then i = i + #self.s end
  if i < 0 or i >= #self.s then
    util.raise("IndexError", "pop index out of range")
  end
  local b = self.s:byte(i + 1)
  self.s = self.s:sub(1, i) .. self.s:sub(i + 2)
  return b
end
function array.remove(self, args)
  local i = self.s:find(byte_of(args[1]), 1, true)
  if not i then util.raise("ValueError", "value not found in bytearray") end
  array.pop(self, {i - 1})
  return None
end
setmetatable(array, {__index = M})

-- bytes_of(v): a Lua string of what bytes() and extend take; from_hex(text):
-- the bytes that two digits each say.
return {bytes = M, bytearray = array, bytes_of = bytes_of, from_hex = from_hex}
