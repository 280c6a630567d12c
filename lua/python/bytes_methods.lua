-- SPDX-License-Identifier: MIT
-- python/bytes_methods.lua: the methods of bytes and bytearray: those of
-- texts on single bytes, and their own.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local counts = require "python.counts"
local text = require("python.text").methods

local M = {}
local array = {}
local None = dt.None

local function raise_type(...) util.raise("TypeError", ...) end

local COUNTS = {find = true, rfind = true, index = true, rindex = true,
  count = true}

-- An argument of a method as text.lua takes it.
local function inward(v, name)
  v = V.unbox(v)
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
    if COUNTS[name] and type(list[1]) ~= "string" then
      list[1] = V.index_of(list[1])
      if math.type(list[1]) ~= "integer" then
        raise_type("argument should be integer or bytes-like object, not '%s'",
          V.type_name(args[1]))
      end
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
    local item = V.unbox(items[i])
    if not V.is_bytes(item) then
      raise_type("sequence item %d: expected a bytes-like object, %s found",
        i - 1, V.type_name(items[i]))
    end
    parts[i] = item.s
  end
  return V.bytes_like(self, table.concat(parts, self.s))
end

function M.decode(self, args, kw)
  local name = args[1] or kw and V.dict_get(kw, "encoding") or "utf-8"
  local how = args[2] or kw and V.dict_get(kw, "errors") or "strict"
  return V.decoded(self.s, name, how)
end

function M.hex(self, args, kw)
  local given = args[1]
  if given == nil and kw then given = V.dict_get(kw, "sep") end
  local sep, size = given ~= nil and V.unbox(given) or "", args[2]
    or kw and V.dict_get(kw, "bytes_per_sep") or 1
  local out = {}
  for i = 1, #self.s do out[i] = ("%02x"):format(self.s:byte(i)) end
  if V.is_bytes(sep) then sep = sep.s end
  if given ~= nil and type(sep) ~= "string" then
    raise_type("sep must be str or bytes.")
  elseif given ~= nil and #sep ~= 1 then
    util.raise("ValueError", utf8.len(sep) == 1 and "sep must be ASCII."
      or "sep must be length 1.")
  end
  if sep == "" or size == 0 then return table.concat(out) end
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

local function plain_bytes(v)
  local b = V.unbox(v)
  if V.is_bytes(b) then return b.s end
  return raise_type("a bytes-like object is required, not '%s'", V.type_name(v))
end

function M.maketrans(_, args)
  local from, to = plain_bytes(args[1]), plain_bytes(args[2])
  if #from ~= #to then
    util.raise("ValueError", "maketrans arguments must have same length")
  end
  local map = {}
  for i = 0, 255 do map[i] = string.char(i) end
  for i = 1, #from do map[from:byte(i)] = to:sub(i, i) end
  return V.bytes(table.concat(map, "", 0, 255))
end

function M.translate(self, args, kw)
  local map = args[1] ~= None and plain_bytes(args[1])
  local gone = args[2] or kw and V.dict_get(kw, "delete")
  gone = gone and plain_bytes(gone) or ""
  if map and #map ~= 256 then
    util.raise("ValueError", "translation table must be 256 characters long")
  end
  local out = {}
  for i = 1, #self.s do
    local c = self.s:sub(i, i)
    if not gone:find(c, 1, true) then
      out[#out + 1] = map and map:sub(c:byte() + 1, c:byte() + 1) or c
    end
  end
  return V.bytes_like(self, table.concat(out))
end

-- ---- bytearray's own ----

local function byte_of(v, what)
  v = V.index_of(v)
  if math.type(v) ~= "integer" then
    raise_type("'%s' object cannot be interpreted as an integer",
      V.type_name(v))
  elseif v < 0 or v > 255 then
    util.raise("ValueError", (what or "byte") .. " must be in range(0, 256)")
  end
  return string.char(v)
end

-- A Lua string of what bytes() and extend take; `what` a wrong number is told as.
local function bytes_of(v, what)
  if V.is_bytes(v) then return v.s end
  local items, n = V.items(v)
  local out = {}
  for i = 1, n do out[i] = byte_of(items[i], what) end
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
for name, f in pairs(M) do
  if array[name] == nil then array[name] = f end
end
for kind, methods in pairs {bytes = M, bytearray = array} do
  counts.check(kind, methods, counts.OF_TEXT .. [[ translate 1 2 kw
    maketrans 2 2 append 1 1 extend 1 1 clear 0 0 copy 0 0 reverse 0 0 pop 0 1
    remove 1 1 insert 2 2]])
end

-- bytes_of(v): a Lua string of what bytes() and extend take; from_hex(text):
-- the bytes that two digits each say.
return {bytes = M, bytearray = array, bytes_of = bytes_of, from_hex = from_hex}
