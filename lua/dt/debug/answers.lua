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

-- dt.debug.show(x): {shape, placements, partial, parts = {{rank, coordinate,
-- shape, offset}}}: which rank holds what.
function M.show(x)
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
