-- SPDX-License-Identifier: MIT
-- dt/io/unpickle.lua: what a pickle describes, as dt/io/pickle.lua describes
-- values.
--
-- Pure: nothing is called or made but tables.  loads(text, allowed) gives
-- Lua's booleans, numbers and strings, pickle.none, and tables with a kind:
--   list, tuple {v…, n =}   dict {{key, value}…}   set {v…, n =, frozen =}
--   long {s = two's complement, little-endian}     bytes {s =}
--   global {module =, name =}   persistent {v =}
--   call {f =, args =, items = {{key, value}…} | appended {v…}, state =}
-- The same object is the same table wherever it is.  allowed(module, name)
-- raises for a class that is not to be had.  Errors: UnpicklingError for what
-- is cut short or is no pickle; all work is bounded by the length of the text.

local util = require "dt.util"
local pickle = require "dt.io.pickle"

local M = {}

local none = pickle.none

local function bad(...) util.raise("UnpicklingError", ...) end

local Reader = {}
Reader.__index = Reader

-- The next n bytes.
local function bytes(r, n)
  if n < 0 or n > #r.text - r.at + 1 then bad("pickle data was truncated") end
  r.at = r.at + n
  return r.text:sub(r.at - n, r.at - 1)
end

local function number(r, format)
  return (string.unpack(format, bytes(r, string.packsize(format))))
end

local function line(r)
  local stop = r.text:find("\n", r.at, true)
  if not stop then bad("pickle data was truncated") end
  local s = r.text:sub(r.at, stop - 1)
  r.at = stop + 1
  return s
end

local function push(r, v)
  r.n = r.n + 1
  r.stack[r.n] = v
end

local function pop(r)
  local floor = r.marks[#r.marks] or 0
  if r.n <= floor then bad("unexpected MARK found") end
  local v = r.stack[r.n]
  r.stack[r.n] = nil
  r.n = r.n - 1
  return v
end

local function top(r)
  local floor = r.marks[#r.marks] or 0
  if r.n <= floor then bad("unpickling stack underflow") end
  return r.stack[r.n]
end

-- Everything above the last mark: a table with n.
local function above(r)
  local from = table.remove(r.marks)
  if not from then bad("could not find MARK") end
  local out = {n = r.n - from}
  for i = 1, out.n do
    out[i], r.stack[from + i] = r.stack[from + i], nil
  end
  r.n = from
  return out
end

local function taken(r, n)
  local out = {n = n}
  for i = n, 1, -1 do out[i] = pop(r) end
  return out
end

local function kind(k, t)
  t.kind = k
  return t
end

local function add_items(r, items)
  local box = top(r)
  local list = type(box) == "table" and (box.kind == "list" and box
    or box.kind == "call" and box.appended)
  if type(box) == "table" and box.kind == "call" and not list then
    box.appended = {n = 0}
    list = box.appended
  end
  if not list then bad("Can only append to lists") end
  for i = 1, items.n do list[list.n + i] = items[i] end
  list.n = list.n + items.n
end

local function set_items(r, items)
  local box = top(r)
  if type(box) == "table" and box.kind == "call" then
    box.items = box.items or {}
    box = box.items
  elseif type(box) ~= "table" or box.kind ~= "dict" then
    bad("Can only set items of dicts")
  end
  if items.n % 2 ~= 0 then bad("odd number of items for SETITEMS") end
  for i = 1, items.n, 2 do box[#box + 1] = {items[i], items[i + 1]} end
end

local function long(r, s)
  if #s == 0 then return push(r, 0) end
  if #s <= 8 then
    return push(r, (string.unpack("<i" .. #s, s)))
  end
  push(r, kind("long", {s = s}))
end

local function global(r, module, name)
  if type(module) ~= "string" or type(name) ~= "string" then
    bad("STACK_GLOBAL requires str")
  end
  r.allowed(module, name)
  local key = module .. "\n" .. name
  r.globals[key] = r.globals[key] or kind("global", {module = module,
    name = name})
  push(r, r.globals[key])
end

local function called(r)
  local args, f = pop(r), pop(r)
  if type(args) ~= "table" or args.kind ~= "tuple" or type(f) ~= "table"
     or f.kind ~= "global" then
    bad("only functions of the file's list are called")
  end
  push(r, kind("call", {f = f, args = args}))
end

local function put(r, i) r.memo[i] = top(r) end
local function get(r, i)
  local v = r.memo[i]
  if v == nil then bad("Memo value not found at index %d", i) end
  push(r, v)
end

-- ---- the opcodes ----

local ops = {
  ["\x80"] = function (r)
    local p = number(r, "B")
    if p > 5 then bad("unsupported pickle protocol: %d", p) end
  end,
  ["\x95"] = function (r) number(r, "<i8") end,
  ["("] = function (r) r.marks[#r.marks + 1] = r.n end,
  ["0"] = pop, ["1"] = above,
  ["2"] = function (r) push(r, top(r)) end,
  N = function (r) push(r, none) end,
  ["\x88"] = function (r) push(r, true) end,
  ["\x89"] = function (r) push(r, false) end,
  J = function (r) push(r, number(r, "<i4")) end,
  K = function (r) push(r, number(r, "B")) end,
  M = function (r) push(r, number(r, "<I2")) end,
  G = function (r) push(r, number(r, ">d")) end,
  ["\x8a"] = function (r) long(r, bytes(r, number(r, "B"))) end,
  ["\x8b"] = function (r) long(r, bytes(r, number(r, "<i4"))) end,
  X = function (r) push(r, bytes(r, number(r, "<I4"))) end,
  ["\x8c"] = function (r) push(r, bytes(r, number(r, "B"))) end,
  ["\x8d"] = function (r) push(r, bytes(r, number(r, "<i8"))) end,
  T = function (r) push(r, bytes(r, number(r, "<i4"))) end,
  U = function (r) push(r, bytes(r, number(r, "B"))) end,
  B = function (r) push(r, kind("bytes", {s = bytes(r, number(r, "<I4"))})) end,
  C = function (r) push(r, kind("bytes", {s = bytes(r, number(r, "B"))})) end,
  ["\x8e"] = function (r)
    push(r, kind("bytes", {s = bytes(r, number(r, "<i8"))}))
  end,
  ["]"] = function (r) push(r, kind("list", {n = 0})) end,
  ["}"] = function (r) push(r, kind("dict", {})) end,
  [")"] = function (r) push(r, kind("tuple", {n = 0})) end,
  ["\x8f"] = function (r) push(r, kind("set", {n = 0})) end,
  ["\x90"] = function (r)
    local items, box = above(r), top(r)
    if type(box) ~= "table" or box.kind ~= "set" then bad("no set to add to") end
    table.move(items, 1, items.n, box.n + 1, box)
    box.n = box.n + items.n
  end,
  ["\x91"] = function (r)
    local items = above(r)
    items.frozen = true
    push(r, kind("set", items))
  end,
  t = function (r) push(r, kind("tuple", above(r))) end,
  l = function (r) push(r, kind("list", above(r))) end,
  d = function (r)
    local items = above(r)
    push(r, kind("dict", {}))
    set_items(r, items)
  end,
  ["\x85"] = function (r) push(r, kind("tuple", taken(r, 1))) end,
  ["\x86"] = function (r) push(r, kind("tuple", taken(r, 2))) end,
  ["\x87"] = function (r) push(r, kind("tuple", taken(r, 3))) end,
  a = function (r) add_items(r, taken(r, 1)) end,
  e = function (r) add_items(r, above(r)) end,
  s = function (r) set_items(r, taken(r, 2)) end,
  u = function (r) set_items(r, above(r)) end,
  c = function (r)
    local module = line(r)
    global(r, module, line(r))
  end,
  ["\x93"] = function (r)
    local name = pop(r)
    global(r, pop(r), name)
  end,
  R = called, ["\x81"] = called,
  b = function (r)
    local state, v = pop(r), top(r)
    if type(v) ~= "table" or v.kind ~= "call" then bad("no object to BUILD") end
    v.state = state
  end,
  Q = function (r) push(r, kind("persistent", {v = pop(r)})) end,
  q = function (r) put(r, number(r, "B")) end,
  r = function (r) put(r, number(r, "<I4")) end,
  h = function (r) get(r, number(r, "B")) end,
  j = function (r) get(r, number(r, "<I4")) end,
  ["\x94"] = function (r)
    put(r, r.count)
    r.count = r.count + 1
  end,
}

-- loads(text, allowed): the description of what the pickle holds.
function M.loads(text, allowed)
  local r = setmetatable({text = text, at = 1, stack = {}, n = 0, marks = {},
    memo = {}, count = 0, globals = {}, allowed = allowed}, Reader)
  while true do
    local op = bytes(r, 1)
    if op == "." then return pop(r) end
    local run = ops[op]
    if not run then bad("Unsupported operand %d", op:byte()) end
    run(r)
  end
end

return M
