-- SPDX-License-Identifier: MIT
-- dt/diagnose/match.lua: finds many fixed texts in a squash at once.
--
-- The first HEAD letters of a text, read as one integer, are a key; a pass over
-- the input reads the letters at each place so, and where some texts begin with
-- them, compares those: the short ones whole, the others by their first LONG
-- letters before.  One pass whatever the number of texts, and nothing to
-- prepare but tables: a report alone is answered as quickly as one of many.

local clean = require "dt.diagnose.clean"
local unpack = string.unpack

local M = {}
M.__index = M

local HEAD <const>, LONG <const> = 5, 10
local AS_KEY <const> = "<I5"

-- A set of texts to look for.
function M.new()
  return setmetatable({by_head = {}, brief = {}, known = {}}, M)
end

-- Add a text; returns its squash, by which find() reports it.
function M:add(text)
  local s = clean.squash(text)
  if s == "" or self.known[s] then return s end
  self.known[s] = true
  if #s < HEAD then                      -- no key: looked for by itself
    self.brief[#self.brief + 1] = s
    return s
  end
  local key = unpack(AS_KEY, s)
  local group = self.by_head[key]
  if not group then
    group = {short = {}, by_long = {}}
    self.by_head[key] = group
  end
  local list = group.short
  if #s >= LONG then
    local long = s:sub(1, LONG)
    list = group.by_long[long] or {}
    group.by_long[long] = list
  end
  list[#list + 1] = s
  return s
end

-- Those of `list` that stand in `squash` at `at` and were not found before it.
local function note(list, squash, at, found)
  for _, s in ipairs(list) do
    if not found[s] and squash:sub(at, at + #s - 1) == s then found[s] = at end
  end
end

-- Which texts occur in `squash`: {[squashed text] = first position}.
function M:find(squash)
  local found, by_head = {}, self.by_head
  for _, s in ipairs(self.brief) do found[s] = squash:find(s, 1, true) end
  for at = 1, #squash - HEAD + 1 do
    local group = by_head[unpack(AS_KEY, squash, at)]
    if group then
      note(group.short, squash, at, found)
      local list = group.by_long[squash:sub(at, at + LONG - 1)]
      if list then note(list, squash, at, found) end
    end
  end
  return found
end

return M
