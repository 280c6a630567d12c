-- SPDX-License-Identifier: MIT
-- dt/spmd/values.lua: what the arguments of a looked-at call are made of: lists,
-- tuples and dicts that know their length, and how messages show a value.  Of
-- themselves they are plain tables; a reader of another language puts its own
-- in their place (use()).

local dt = require "dt"
local util = require "dt.util"

local M = {}
local core = dt._spmd

local list_mt, tuple_mt = {__name = "list"}, {__name = "tuple"}
local dict_mt = {__name = "dict"}

function M.list(items, n)
  items.n = n or items.n or #items
  return setmetatable(items, list_mt)
end

function M.tuple(items, n)
  items.n = n or items.n or #items
  return setmetatable(items, tuple_mt)
end

function M.is_list(v) return getmetatable(v) == list_mt end
function M.is_tuple(v) return getmetatable(v) == tuple_mt end
function M.is_seq(v) return M.is_list(v) or M.is_tuple(v) end

-- Keys in the order in which they came.
function M.dict() return setmetatable({keys = {}, at = {}}, dict_mt) end

function M.dict_set(d, k, v)
  if d.at[k] == nil then d.keys[#d.keys + 1] = k end
  d.at[k] = v
end

function M.dict_get(d, k) return d.at[k] end

function M.each(d)
  local i = 0
  return function ()
    i = i + 1
    local k = d.keys[i]
    if k ~= nil then return k, d.at[k] end
  end
end

function M.is_function(v) return type(v) == "function" end

-- A value of Lua as an argument; a list of tensors is a list, of others a
-- tuple.
function M.from_lua(v)
  if type(v) ~= "table" or getmetatable(v) ~= nil then return v end
  return M.list({table.unpack(v)}, #v)
end

function M.call(f, args, kw)
  local list = {table.unpack(args, 1, args.n)}
  if kw then
    local named = {}
    for k, v in M.each(kw) do named[k] = v end
    list[args.n + 1] = named
  end
  return f(table.unpack(list, 1, args.n + (kw and 1 or 0)))
end

local function joined(v)
  local out = {}
  for i = 1, v.n do out[i] = M.repr(v[i]) end
  return table.concat(out, ", ")
end

function M.repr(v)
  if v == nil or v == dt.None then return "None" end
  if type(v) == "string" then return ("'%s'"):format(v) end
  if type(v) == "boolean" then return v and "True" or "False" end
  if M.is_list(v) then return "[" .. joined(v) .. "]" end
  if M.is_tuple(v) then
    return "(" .. joined(v) .. (v.n == 1 and ",)" or ")")
  end
  return util.is_dtype(v) and "torch." .. tostring(v) or tostring(v)
end

-- Nothing stands for a watched function of the library but itself.
function M.set_plain() end

local names = {}
for name in pairs(M) do names[#names + 1] = name end

-- use(V): lists and all the rest are V's from here on; V has the functions
-- above.
function M.use(V)
  for _, name in ipairs(names) do M[name] = V[name] end
  core.sequences(getmetatable(M.list({}, 0)), getmetatable(M.tuple({}, 0)))
end
core.sequences(list_mt, tuple_mt)

return M
