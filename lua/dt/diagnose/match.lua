-- SPDX-License-Identifier: MIT
-- dt/diagnose/match.lua: finds many fixed texts in a squash at once.
--
-- The first letters of all texts make a trie, an LPeg pattern; where it
-- matches, the texts that begin so are compared whole.  One pass over the
-- input whatever the number of texts, and nothing to backtrack into.

local lpeg = require "lpeg"
local clean = require "dt.diagnose.clean"
local P, V, Cp, Cc = lpeg.P, lpeg.V, lpeg.Cp, lpeg.Cc

local M = {}
M.__index = M

local KEY = 8                   -- letters that decide

-- A set of texts to look for.
function M.new()
  return setmetatable({by_key = {}, known = {}}, M)
end

-- Add a text; returns its squash, by which find() reports it.
function M:add(text)
  local s = clean.squash(text)
  if s == "" or self.known[s] then return s end
  self.known[s] = true
  local key = s:sub(1, KEY)
  local list = self.by_key[key]
  if not list then
    list = {}
    self.by_key[key] = list
  end
  list[#list + 1] = s
  self.scanner = nil
  return s
end

local function node_pattern(node)
  local p
  local keys = {}
  for ch in pairs(node.next) do keys[#keys + 1] = ch end
  table.sort(keys)
  for _, ch in ipairs(keys) do
    local q = P(ch) * node_pattern(node.next[ch])
    p = p and p + q or q
  end
  if node.keys then
    local own = Cc(node.keys)
    p = p and p + own or own
  end
  return p
end

-- Each leaf gives the list of all keys on the way to it.
local function build(by_key)
  local root = {next = {}}
  local sorted = {}
  for key in pairs(by_key) do sorted[#sorted + 1] = key end
  table.sort(sorted)
  for _, key in ipairs(sorted) do
    local node, above = root, nil
    for ch in key:gmatch "." do
      node.next[ch] = node.next[ch] or {next = {}}
      node = node.next[ch]
      above = node.keys or above
    end
    node.keys = {key}
    if above and above ~= node.keys then
      for _, k in ipairs(above) do node.keys[#node.keys + 1] = k end
    end
  end
  return P {Cp() * node_pattern(root) + 1 * V(1)}
end

-- Which texts occur in `squash`: {[squashed text] = first position}.
function M:find(squash)
  local found, at = {}, 1
  if not next(self.by_key) then return found end
  self.scanner = self.scanner or build(self.by_key)
  local scanner, by_key, sub = self.scanner, self.by_key, string.sub
  while true do
    local where, keys = scanner:match(squash, at)
    if not where then return found end
    for i = 1, #keys do
      for _, s in ipairs(by_key[keys[i]]) do
        if not found[s] and sub(squash, where, where + #s - 1) == s then
          found[s] = where
        end
      end
    end
    at = where + 1
  end
end

return M
