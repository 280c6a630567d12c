-- SPDX-License-Identifier: MIT
-- tree_writer.lua: writes the tree of a Python text as bytes, from which
-- src/bind/tree.c makes it again ten times faster than the parser does.
-- scripts/embed.lua writes those of the Python texts that are part of dtrepl.
--
--   bytes  = strings shapes value
--   strings = number, then of each its length and bytes
--   shapes = number, then of each the number of its keys and the keys: the
--            names that tables of one kind have, as numbers of strings, from 1
--   value  = number whose last three bits say what it is (TAGS): a string by
--            its number; an integer, 2 v or, when negative, -2 v - 1, as a
--            number behind it; a float as 8 bytes of this machine; a table by
--            its shape (from 1), the number of its items, the values of its
--            keys and its items
-- Numbers are in groups of 7 bits, the least first; bit 7 says that more come.

local M = {}

local TAGS <const> = {["false"] = 0, ["true"] = 1, string = 2, integer = 3,
  float = 4, table = 5}

local function number_bytes(n)
  local s = ""
  while n > 127 or n < 0 do             -- an integer's 64 bits have no sign
    s, n = s .. string.char(n & 127 | 128), n >> 7
  end
  return s .. string.char(n)
end

-- A list of things that have numbers in the order in which they came.
local function new_pool()
  local pool = {}
  function pool.number(key)
    if not pool[key] then
      pool[#pool + 1] = key
      pool[key] = #pool
    end
    return pool[key]
  end
  return pool
end

-- The keys that are names, in order; an error for what is no name or item.
local function keys_of(t)
  local keys, n = {}, #t
  for k in pairs(t) do
    if type(k) == "string" then
      keys[#keys + 1] = k
    else
      assert(math.type(k) == "integer" and k >= 1 and k <= n, "no list")
    end
  end
  table.sort(keys)
  return keys
end

-- The tree as bytes, or nil where it holds what has no bytes here (an integer
-- beyond 64 bits): the parser makes it then.
function M.write(tree)
  local strings, shapes, keys_at, out = new_pool(), new_pool(), {}, {}
  local function put(n) out[#out + 1] = number_bytes(n) end
  local function put_value(v)
    local kind = math.type(v) or type(v)
    if kind == "boolean" then
      put(TAGS[tostring(v)])
    elseif kind == "string" then
      put(strings.number("s" .. v) << 3 | TAGS.string)
    elseif kind == "integer" then
      put(TAGS.integer)
      put(v << 1 ~ -(v >> 63))
    elseif kind == "float" then
      put(TAGS.float)
      out[#out + 1] = ("=d"):pack(v)
    else
      assert(kind == "table" and not getmetatable(v), "no tree")
      local keys = keys_of(v)
      local shape = shapes.number("s" .. table.concat(keys, " "))
      keys_at[shape] = keys
      put(shape << 3 | TAGS.table)
      put(#v)
      for _, k in ipairs(keys) do put_value(v[k]) end
      for _, item in ipairs(v) do put_value(item) end
    end
  end
  if not pcall(put_value, tree) then return nil end
  local values
  values, out = out, {}
  local of_shapes = {}
  for i, keys in ipairs(keys_at) do
    of_shapes[i] = {}
    for j, k in ipairs(keys) do of_shapes[i][j] = strings.number("s" .. k) end
  end
  put(#strings)
  for _, s in ipairs(strings) do
    put(#s - 1)
    out[#out + 1] = s:sub(2)
  end
  put(#of_shapes)
  for _, keys in ipairs(of_shapes) do
    put(#keys)
    for _, k in ipairs(keys) do put(k) end
  end
  return table.concat(out) .. table.concat(values)
end

return M
