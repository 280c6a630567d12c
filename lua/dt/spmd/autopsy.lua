-- SPDX-License-Identifier: MIT
-- dt/spmd/autopsy.lua: behind the package's words for types that do not fit:
-- each operand with its type, who gave it that type and where, whether its
-- numbers agree with it on the ranks at hand, and what to do.

local dt = require "dt"
local util = require "dt.util"

local core = dt._spmd
local M = {}

-- ---- who gave the types ----

local given = setmetatable({}, {__mode = "k"})

-- The file and the line of the program that is running, or nil.
local function place()
  local file, line = core.place()
  if line > 0 then return file, line end
end

-- note(t, how, list): the types of t on the axes of the list are from `how`
-- ("asserted", "all_reduce", …), known by the line that runs now.
function M.note(t, how, list)
  local mine = given[t] or {}
  local what = {how = how}
  what.file, what.line = place()
  for _, v in ipairs(list or {}) do mine[v[1]] = what end
  given[t] = mine
end

-- What is new in the types of t since `before` was asserted.
function M.asserted(t, before)
  local old, new = {}, {}
  for _, v in ipairs(before or {}) do old[v[1]] = v[2] end
  for _, v in ipairs(core.types(t) or {}) do
    if old[v[1]] ~= v[2] then new[#new + 1] = v end
  end
  if #new > 0 then M.note(t, "asserted", new) end
end

-- Functions by number, as core.give() has them.
local function_names, numbers = {}, {}
function M.number(name)
  if not numbers[name] then
    function_names[#function_names + 1] = name
    numbers[name] = #function_names
  end
  return numbers[name]
end

-- source(t, axis) -> {how, file, line} of who gave the type, or nil.
function M.source(t, axis)
  local told = given[t] and given[t][axis]
  if told or not core.type_on(t, axis) then return told end
  local number, path, line = core.made(t)
  return number > 0 and {how = function_names[number],
    file = path ~= "" and path or nil, line = line} or nil
end

local function origin(t, axis)
  local what = M.source(t, axis)
  if not what then return "said by nobody that was seen" end
  return (what.how == "asserted" and "asserted" or "inferred from "
    .. what.how) .. (what.file and (" at %s:%d"):format(what.file, what.line)
    or "")
end

-- ---- the numbers ----

local MOST <const> = 1 << 16          -- elements that are looked at

-- A text that is equal where the numbers are; nil where they are not looked at.
local function digest(t)
  if t.is_dtensor or t:numel() == 0 or t:numel() > MOST then return nil end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local h, zero = 0, true
  local function mix(v)
    if type(v) == "table" then
      for _, x in ipairs(v) do mix(x) end
      return
    end
    if v ~= 0 and v ~= false then zero = false end
    for c in tostring(v):gmatch(".") do h = (h * 31 + c:byte()) & 0xffffffff end
  end
  local list = t:detach():tolist()
  mix(type(list) == "table" and list or {list})
  return zero and "0" or ("%x"):format(h)
end

-- The ranks of an axis that this one is among.
local function ranks_along(axis)
  local layout = core.axis_info(axis).layout
  if #layout ~= 1 then return nil end
  local size, stride = layout[1][1], layout[1][2]
  local me, out = dt.rank(), {}
  local first = me - (me // stride) % size * stride
  for i = 0, size - 1 do out[i + 1] = first + i * stride end
  return out
end

-- What the numbers of the ranks say about a type on an axis.
local function agreement(kind, axis, all)
  local ranks, seen, zero, n = ranks_along(axis), {}, true, 0
  if not ranks then return nil end
  for _, r in ipairs(ranks) do
    local d = all[r + 1]
    if d == nil or d == "" then return nil end
    if not seen[d] then n = n + 1 end
    seen[d], zero = true, zero and d == "0"
  end
  local on = "on ranks " .. table.concat(ranks, ", ")
  if zero then return "all zeros " .. on .. ", which says nothing" end
  if kind == "R" or kind == "I" then
    return n == 1 and "equal bit for bit " .. on
      or "NOT equal " .. on .. ": the type is wrong"
  elseif kind == "V" and n == 1 then
    return "equal " .. on .. ": nothing varies there"
  end
  return kind == "V" and "different " .. on or nil
end

-- ---- the text ----

-- Lines about the operands; `digests` are the texts of all ranks for each of
-- them, or nil.
local function lines_of(operands, digests)
  local out = {}
  for i, o in ipairs(operands) do
    out[#out + 1] = ("    %s: %s"):format(o[1], core.tensor_text(o[2]))
    local types = core.types(o[2])
    if not types then
      out[#out + 1] = "      without types: assert_type() gives it some, or make "
        .. "it inside typecheck()"
    end
    for _, v in ipairs(types or {}) do
      local said = digests and agreement(v[2], v[1], digests[i])
      out[#out + 1] = ("      %s on %s: %s%s"):format(v[2],
        core.axis_info(v[1]).name, origin(o[2], v[1]), said and "; " .. said
        or "")
    end
  end
  return out
end

M.HEAD = "where the types come from:"

local function text(operands, digests)
  local lines = lines_of(operands, digests)
  table.insert(lines, 1, M.HEAD)
  return table.concat(lines, "\n")
end

local function has_tensor(v)
  return util.is_tensor(v) and not v.is_dtensor
end

-- attach(e, labels): the error e of a call with these {name, value}.
function M.attach(e, labels)
  local operands = {}
  for _, l in ipairs(labels) do
    if has_tensor(l[2]) then
      operands[#operands + 1] = l
    elseif type(l[2]) == "table" and rawget(l[2], "n") then
      for i = 1, l[2].n do
        if has_tensor(l[2][i]) then
          operands[#operands + 1] = {("%s[%d]"):format(l[1], i - 1), l[2][i]}
        end
      end
    end
  end
  if #operands == 0 then return end
  e.operands, e.explain = operands, text(operands)
end

-- At the end of a program that an error ended: the numbers of the ranks, where
-- all of them came here.  Collective, if they did.
function M.compare(e)
  local operands = type(e) == "table" and rawget(e, "operands")
  if not operands or dt.world_size() == 1 then return end
  local own = {}
  for i, o in ipairs(operands) do
    local ok, d = pcall(digest, o[2])
    own[i] = ok and d or ""
  end
  local ok, all = pcall(dt._gather_text, table.concat(own, ","))
  if not ok then return end
  local digests = {}
  for i in ipairs(operands) do digests[i] = {} end
  for r, line in ipairs(all) do
    local i = 0
    for d in (line .. ","):gmatch("(.-),") do
      i = i + 1
      if digests[i] then digests[i][r] = d end
    end
  end
  e.explain = text(operands, digests)
end

return M
