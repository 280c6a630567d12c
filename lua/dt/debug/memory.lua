-- SPDX-License-Identifier: MIT
-- dt/debug/memory.lua: what the steps of a program (program.lua) do first with
-- memory: read it, or write all of it, whatever was there.

local M = {}

-- Operators that write all of what they write.
local OVER <const> = {copy_ = true, fill_ = true, zero_ = true, normal_ = true,
  uniform_ = true, random_ = true, bernoulli_ = true, exponential_ = true}

local Memory = {}
Memory.__index = Memory

-- of(P) -> the memory of its values: which steps have each storage as an input.
-- Pure.
function M.of(P)
  local uses = {}
  for i, s in ipairs(P.steps) do
    local seen = {}
    for _, id in ipairs(s.ins) do
      local at = P.values[id].storage or 0
      if at ~= 0 and not seen[at] then
        seen[at] = true
        uses[at] = uses[at] or {}
        table.insert(uses[at], i)
      end
    end
  end
  local place = {}
  for i, s in ipairs(P.steps) do place[s] = i end
  return setmetatable({P = P, uses = uses, place = place}, Memory)
end

local function count(shape)
  local n = 1
  for _, x in ipairs(shape) do n = n * x end
  return n
end

-- Is what the step makes another reading of this memory, and no more?
local function only_views(P, s, storage)
  if s.kind == "detach" or s.kind == "view" or s.kind == "alias" then return true end
  if next(s.wrote or {}) ~= nil or s.kind ~= "op" then return false end
  local out = P.values[s.outs[1] or 0]
  return out ~= nil and out.storage == storage
end

-- What step `s` does with input `i`, which lies in the memory of v.
local function use(P, s, i, v)
  local x = P.values[s.ins[i]]
  if only_views(P, s, v.storage) then return nil end
  local name, form = (s.op or ""):match("^aten%.([%w_]+)%.(.*)$")
  local wrote = false
  for _, id in ipairs(s.kind == "op" and s.wrote or {}) do
    wrote = wrote or id == x.id
  end
  local over = wrote and (OVER[name or ""] and i == 1 or form and form:find("out$"))
  if over and count(x.local_shape) == count(v.local_shape) then
    return "written"
  end
  return "read"
end

-- memory:first_use(v, s) -> "written" when the first step after `s` that does
-- more than to look at the memory of value `v` writes as much as v has, "read"
-- when it is another or when there is none.  Pure.
function Memory:first_use(v, s)
  local P, from = self.P, self.place[s]
  for _, k in ipairs(self.uses[v.storage] or {}) do
    local t, what = P.steps[k], nil
    for i, id in ipairs(k > from and t.ins or {}) do
      if P.values[id].storage == v.storage then
        local did = use(P, t, i, v)
        if did == "read" then return did end
        what = what or did
      end
    end
    if what then return what end
  end
  return "read"
end

return M
