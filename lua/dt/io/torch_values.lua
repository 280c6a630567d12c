-- SPDX-License-Identifier: MIT
-- dt/io/torch_values.lua: what the pickle of a torch.save file describes as
-- values of a host, and Lua's tables there and back.  Local.
--
-- A host is a table of functions: list() -> box, append(box, v); dict(ordered)
-- -> box, set_item(box, k, v); tuple(items, n); set(items, n, frozen);
-- size(items, n); long(s) (two's complement, little-endian); device(text);
-- none.

local dt = require "dt"
local util = require "dt.util"
local P = require "dt.io.pickle"
local torch_file = require "dt.io.torch_file"

local M = {}

local DEEPEST = 500                      -- boxes in boxes

local function wrong(r, ...)
  util.raise("UnpicklingError", "%s: %s", r.path, string.format(...))
end

local Decoder = {}
Decoder.__index = Decoder

local decode

-- A key or a member of a set: no box, and of tuples those of such.
local function key(d, v, inside)
  local kind = type(v) == "table" and v ~= P.none and v.kind
  if kind == "tuple" and not inside then
    for i = 1, v.n do key(d, v[i], true) end
  elseif kind and kind ~= "long" and kind ~= "global" then
    wrong(d.reader, "a %s is no key here", kind)
  end
  return decode(d, v)
end

local function items_of(d, v)
  local out = {}
  for i = 1, v.n do out[i] = decode(d, v[i]) end
  return out, v.n
end

-- The bytes behind _codecs.encode(text, "latin1").
local function latin1(d, v)
  local text = v.args[1]
  if type(text) ~= "string" or not utf8.len(text) then
    wrong(d.reader, "bytes of no text")
  end
  local out = {}
  for _, c in utf8.codes(text) do
    if c > 255 then wrong(d.reader, "a byte of %d", c) end
    out[#out + 1] = string.char(c)
  end
  return table.concat(out)
end

local calls = {}
calls["collections.OrderedDict"] = function (d, v)
  local box = d.host.dict(true)
  d.known[v] = box
  for _, item in ipairs(v.items or {}) do
    d.host.set_item(box, key(d, item[1]), decode(d, item[2]))
  end
  return box
end
calls["torch.Size"] = function (d, v)
  local t = v.args[1]
  if type(t) ~= "table" or t.kind ~= "tuple" then
    wrong(d.reader, "a torch.Size of no tuple")
  end
  return d.host.size(items_of(d, t))
end
calls["torch.device"] = function (d, v)
  local name, index = v.args[1], v.args[2]
  if type(name) ~= "string" then wrong(d.reader, "a device without a name") end
  return d.host.device(math.type(index) == "integer" and name .. ":" .. index
    or name)
end
calls["__builtin__.set"] = function (d, v)
  local list, out = v.args[1], {}
  if type(list) ~= "table" or list.kind ~= "list" then
    wrong(d.reader, "a set of no list")
  end
  for i = 1, list.n do out[i] = key(d, list[i]) end
  return d.host.set(out, list.n)
end
calls["builtins.set"] = calls["__builtin__.set"]
calls["_codecs.encode"] = latin1

local kinds = {}
function kinds.list(d, v)
  local box = d.host.list()
  d.known[v] = box
  for i = 1, v.n do d.host.append(box, decode(d, v[i])) end
  return box
end
function kinds.dict(d, v)
  local box = d.host.dict(false)
  d.known[v] = box
  for _, item in ipairs(v) do
    d.host.set_item(box, key(d, item[1]), decode(d, item[2]))
  end
  return box
end
function kinds.tuple(d, v) return d.host.tuple(items_of(d, v)) end
function kinds.set(d, v)
  local out = {}
  for i = 1, v.n do out[i] = key(d, v[i]) end
  return d.host.set(out, v.n, v.frozen)
end
function kinds.long(d, v) return d.host.long(v.s) end
function kinds.bytes(_, v) return v.s end
function kinds.global(d, v)
  return d.reader:dtype(v) or wrong(d.reader, "%s.%s is no value here", v.module,
    v.name)
end
function kinds.call(d, v)
  local t = d.reader:tensor(v)
  if t then return t end
  local make = calls[v.f.module .. "." .. v.f.name]
  if not make then
    wrong(d.reader, "%s.%s makes no value here", v.f.module, v.f.name)
  end
  return make(d, v)
end

function decode(d, v)
  if v == P.none then return d.host.none end
  if type(v) ~= "table" then return v end
  if d.known[v] ~= nil then return d.known[v] end
  local make = kinds[v.kind]
  if not make then wrong(d.reader, "a %s is no value", tostring(v.kind)) end
  d.depth = d.depth + 1
  if d.depth > DEEPEST then
    wrong(d.reader, "its values are nested more than %d deep", DEEPEST)
  end
  local out = make(d, v)
  d.depth = d.depth - 1
  d.known[v] = out
  return out
end

-- decode(reader, host): the value of a file.
function M.decode(reader, host)
  return decode(setmetatable({reader = reader, host = host, known = {},
    depth = 0}, Decoder), reader.root)
end

-- ---- Lua's values ----

local lua = {list = function () return {} end,
  append = function (box, v) box[#box + 1] = v end,
  dict = function () return {} end,
  set_item = function (box, k, v) box[k] = v end,
  tuple = function (items) return items end,
  set = function (items) return items end,
  size = function (items) return items end,
  long = function ()
    util.raise("ValueError", "an integer of more than 64 bits")
  end,
  device = function (text) return text end, none = dt.None}

-- load(text, path): tables, numbers and tensors of Lua.
function M.load(text, path)
  return M.decode(torch_file.open(text, path, true), lua)
end

local function described(w, v, depth)
  if depth > DEEPEST then
    util.raise("ValueError", "a table inside itself is not written")
  end
  if v == dt.None then return P.none end
  if util.is_tensor(v) then return w.tensor(v) end
  if util.is_dtype(v) then
    return torch_file.dtype_of(tostring(v):match("([%w_]+)$"))
  end
  if type(v) == "string" or type(v) == "number" or type(v) == "boolean" then
    return v
  end
  if type(v) ~= "table" then
    util.raise("TypeError", "a file holds tensors, numbers and texts: this is "
      .. "a %s", util.type_text(v))
  end
  local out, order = {}, util.sorted_keys(v)
  if #v > 0 and #order == #v then
    for i = 1, #v do out[i] = described(w, v[i], depth + 1) end
    return P.list(out)
  end
  for i, k in ipairs(order) do
    out[i] = {described(w, k, depth + 1), described(w, v[k], depth + 1)}
  end
  return P.dict(out)
end

-- save(v, path) -> the file's texts.
function M.save(v, path)
  local w = torch_file.writer()
  return w.archive(described(w, v, 0), torch_file.name(path))
end

return M
