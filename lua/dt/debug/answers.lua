-- SPDX-License-Identifier: MIT
-- dt/debug/answers.lua: dt.debug.why, plan, show: tables that print as the
-- pages of the commands.

local dt = require "dt"
local util = require "dt.util"
local page = require "dt.debug.page"

local M = {}

local function tensor(x)
  if util.is_tensor(x) then return x end
  return util.raise("TypeError", "wanted a tensor, not %s", x == nil
    and "nil: nothing has that name" or util.type_text(x))
end

-- dt.debug.why([n]): {seq, op, via, winner, cheapest, candidates = {{inputs,
-- outputs, cost, bytes, chosen}}}: why recorded operator n (the last; "7+2" is
-- the second typed at the stop after 7) got its strategy.  Candidates are counted
-- from 0.
function M.why(n)
  local text = dt.debug.why_text(n)
  return page.new(dt.debug.why_data(n), function () return text end)
end

-- dt.debug.why_of(x): the same of the operator that made x.
function M.why_of(x)
  local seq = tensor(x).origin.seq
  if seq == 0 then
    util.raise("ValueError", "no recorded operator made this tensor")
  end
  return M.why(seq)
end

-- dt.debug.plan(x, placements): {from, to, greedy = {steps, bytes, cost},
-- graph}: how a redistribution would go.
function M.plan(x, placements)
  local text = dt.debug.plan_text(tensor(x), placements)
  return page.new(dt.debug.plan_data(x, placements), function ()
    return text
  end)
end

local MOST <const> = 256        -- ranks of a mesh that are drawn

-- Rows of ranks, a blank line between the blocks of the outer dimensions.
local function mesh_rows(f)
  local n, cols = #f.ranks, f.shape[#f.shape] or 1
  local block = cols * (f.shape[#f.shape - 1] or 1)
  local wide, lines = 1, {}
  for _, r in ipairs(f.ranks) do wide = math.max(wide, #tostring(r)) end
  for at = 0, n - 1, cols do
    local cells = {}
    for i = 1, cols do cells[i] = ("%" .. wide .. "d"):format(f.ranks[at + i]) end
    if at > 0 and at % block == 0 then lines[#lines + 1] = "" end
    lines[#lines + 1] = "  " .. table.concat(cells, "  ")
  end
  return lines
end

-- Which dimension goes which way: "dp down, tp to the right".
local function mesh_axes(f)
  local last = #f.shape
  local out = {}
  for i = 1, last - 2 do
    out[#out + 1] = page.dim_name(f, i) .. " by blocks"
  end
  if last > 1 then out[#out + 1] = page.dim_name(f, last - 1) .. " down" end
  if last > 0 then out[#out + 1] = page.dim_name(f, last) .. " to the right" end
  return table.concat(out, ", ")
end

local function show_mesh(m)
  local f = dt.debug.mesh_facts(m)
  local dims = {}
  for i, n in ipairs(f.shape) do
    dims[i] = f.names[i] and f.names[i] .. "=" .. n or tostring(n)
  end
  local head = ("mesh (%s)  %s  %s"):format(table.concat(dims, ", "), f.device,
    mesh_axes(f))
  return page.new({shape = f.shape, names = f.names, device = f.device,
    ranks = f.ranks}, function ()
    if #f.ranks > MOST then
      return ("%s\n  %d ranks, from %d to %d"):format(head, #f.ranks, f.ranks[1],
        f.ranks[#f.ranks])
    end
    return head .. "\n" .. table.concat(mesh_rows(f), "\n")
  end)
end

-- dt.debug.show(x): {shape, placements, partial, parts = {{rank, coordinate,
-- shape, offset}}}: which rank holds what; of a mesh {shape, names, device,
-- ranks}.
function M.show(x)
  if util.is_mesh(x) then return show_mesh(x) end
  local text = dt.debug.show_text(tensor(x))
  return page.new(dt.debug.show_data(x), function () return text end)
end

-- dt.debug.status(): {ranks = {{rank, doing}}}: what each rank is doing now.
-- Local.
function M.status()
  local text = dt.debug.status_text()
  local d = {ranks = {}}
  for rank, doing in text:gmatch("rank (%d+): ([^\n]*)") do
    d.ranks[#d.ranks + 1] = {rank = math.tointeger(rank), doing = doing}
  end
  return page.new(d, function () return text end)
end

return M
