-- SPDX-License-Identifier: MIT
-- dt/io/pickle.lua: the bytes that CPython's pickle makes of a value, so that
-- what PyTorch sends or stores as a pickle has its true length here, and can be
-- read there (dt/io/torch_file.lua); dt/io/unpickle.lua is the way back.
--
-- Pure.  A value is described in Lua: booleans, integers, floats and `none` as
-- they are; a string is one that Python interns (the same object wherever it
-- stands); everything else is a table, one table for one object of Python:
--   str(s)                a string that is an object of its own
--   tuple{…} list{…}      with n where there are holes
--   dict{{key, value}, …}
--   global(module, name)  a class or function; module may be a str of its own
--   call(f, args, key)    what a __reduce__ gives; values with one key are one
--                         object (members of an enumeration); its field items,
--                         {{key, value}, …}, are set afterwards
--   long(s)               an integer of more than 64 bits: two's complement,
--                         little-endian
--   object(class, state)  an instance: NEWOBJ, then its state (a dict, tuple)
--   persistent(v)         a persistent id, as torch.save has for storages
-- dumps(v, protocol): 4 (framed, as pickle.dump by default) or 2 (torch.save).
-- Errors: a Lua type that no value has raises ValueError.

local util = require "dt.util"

local M = {}

local none = setmetatable({}, {__name = "None"})
M.none = none

function M.str(s) return {kind = "str", s = s} end
function M.tuple(t)
  t.kind = "tuple"
  return t
end
function M.list(t)
  t.kind = "list"
  return t
end
function M.dict(t)
  t.kind = "dict"
  return t
end
function M.global(module, name)
  return {kind = "global", module = module, name = name}
end
function M.call(f, args, key)
  return {kind = "call", f = f, args = args, key = key}
end
function M.object(class, state, args)
  return {kind = "object", class = class, state = state, args = args}
end
function M.long(s) return {kind = "long", s = s} end
function M.persistent(v) return {kind = "persistent", v = v} end

local FRAME = 64 * 1024            -- a frame is closed at the first value after
local BATCH = 1000                 -- items of one APPENDS or SETITEMS

local Pickler = {}
Pickler.__index = Pickler

local function put(p, s)
  p.out[#p.out + 1] = s
  p.length = p.length + #s
end

-- Frames begin at `p.at`, a position in p.out that is filled when they close.
local function open_frame(p)
  p.out[#p.out + 1] = ""
  p.at, p.length = #p.out, 0
end
local function close_frame(p)
  if p.length >= 4 then
    p.out[p.at] = "\x95" .. string.pack("<I8", p.length)
  end
end

local function memoize(p, key)
  local i = p.count
  p.memo[key], p.count = i, i + 1
  if p.protocol >= 4 then return put(p, "\x94") end
  put(p, i < 256 and "q" .. string.char(i) or "r" .. string.pack("<I4", i))
end

local function recall(p, i)
  put(p, i < 256 and "h" .. string.char(i) or "j" .. string.pack("<I4", i))
end

local function text(p, s, key)
  if p.protocol >= 4 and #s < 256 then
    put(p, "\x8c" .. string.char(#s) .. s)
  else
    put(p, "X" .. string.pack("<I4", #s) .. s)
  end
  memoize(p, key)
end

local function integer(p, i)
  if i >= 0 and i < 256 then return put(p, "K" .. string.char(i)) end
  if i >= 0 and i < 65536 then return put(p, "M" .. string.pack("<I2", i)) end
  if i >= -2 ^ 31 and i < 2 ^ 31 then
    return put(p, "J" .. string.pack("<i4", i))
  end
  local bytes = string.pack("<i8", i)
  for n = 5, 8 do
    if n == 8 or i >= -(1 << (8 * n - 1)) and i < 1 << (8 * n - 1) then
      return put(p, "\x8a" .. string.char(n) .. bytes:sub(1, n))
    end
  end
end

local save
local kinds = {}

function kinds.str(p, v) text(p, v.s, v) end

function kinds.tuple(p, v)
  local n = v.n or #v
  if n == 0 then return put(p, ")") end
  if n > 3 then put(p, "(") end
  for i = 1, n do save(p, v[i]) end
  put(p, n > 3 and "t" or string.char(0x84 + n))
  memoize(p, v)
end

-- Items in batches: one alone by `one`, more between a mark and `many`.  Of a
-- list or dict itself only the first batch can be one alone, and a dict that
-- ends with a full batch has an empty one behind it (CPython 3.11's
-- batch_dict_exact); of what a __reduce__ gave, neither.
local function batches(p, list, n, one, many, each, own)
  for first = 1, n, BATCH do
    local last = math.min(n, first + BATCH - 1)
    local alone = first == last and not (own and first > 1)
    if not alone then put(p, "(") end
    for i = first, last do each(list[i]) end
    put(p, alone and one or many)
  end
end

function kinds.list(p, v)
  put(p, "]")
  memoize(p, v)
  batches(p, v, v.n or #v, "a", "e", function (x) save(p, x) end, true)
end

local function set_items(p, items, own)
  batches(p, items, #items, "s", "u", function (item)
    save(p, item[1])
    save(p, item[2])
  end, own)
end

function kinds.dict(p, v)
  put(p, "}")
  memoize(p, v)
  set_items(p, v, true)
  if #v > 0 and #v % BATCH == 0 then put(p, "(u") end
end

function kinds.long(p, v) put(p, "\x8a" .. string.char(#v.s) .. v.s) end

function kinds.global(p, v)
  if p.protocol >= 4 then
    save(p, v.module)
    save(p, v.name)
    put(p, "\x93")
  else
    local module = type(v.module) == "table" and v.module.s or v.module
    put(p, "c" .. module .. "\n" .. v.name .. "\n")
  end
  memoize(p, v)
end

function kinds.call(p, v)
  save(p, v.f)
  save(p, v.args)
  put(p, "R")
  memoize(p, v.key or v)
  if v.items then set_items(p, v.items) end
end

function kinds.object(p, v)
  save(p, v.class)
  save(p, v.args or M.tuple {})
  put(p, "\x81")
  memoize(p, v)
  if not v.state then return end
  save(p, v.state)
  put(p, "b")
end

function kinds.persistent(p, v)
  save(p, v.v)
  put(p, "Q")
end

function save(p, v)
  if p.protocol >= 4 and p.length >= FRAME then
    close_frame(p)
    open_frame(p)
  end
  if v == none then return put(p, "N") end
  if type(v) == "boolean" then return put(p, v and "\x88" or "\x89") end
  if math.type(v) == "integer" then return integer(p, v) end
  if type(v) == "number" then return put(p, "G" .. string.pack(">d", v)) end
  local known = p.memo[type(v) == "table" and v.key or v]
  if known then return recall(p, known) end
  if type(v) == "string" then return text(p, v, v) end
  local write = type(v) == "table" and kinds[v.kind]
  if not write then
    util.raise("ValueError", "pickle: nothing is known of a %s", type(v))
  end
  write(p, v)
end

-- dumps(v, protocol): the pickle as a string.
function M.dumps(v, protocol)
  local p = setmetatable({protocol = protocol or 4, memo = {}, count = 0,
    out = {}, length = 0}, Pickler)
  put(p, "\x80" .. string.char(p.protocol))
  if p.protocol >= 4 then open_frame(p) end
  save(p, v)
  put(p, ".")
  if p.protocol >= 4 then close_frame(p) end
  return table.concat(p.out)
end

return M
