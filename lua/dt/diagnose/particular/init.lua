-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular: fixes for one message or cause among the several of a
-- class, by what they are about.  A row is {class=, only=, alone=, cause=,
-- fixes=}: where the conditions in `only` hold, its fixes are said before those
-- of the class, or `alone` in place of them when those do not touch the message;
-- `cause` then is said in place of the class's.  `class` is one class or a list;
-- conditions and fixes are as in lua/dt/diagnose/classes/mixed.lua.

local calls = require "dt.diagnose.particular.calls"
local checkpoint = require "dt.diagnose.particular.checkpoint"
local collectives = require "dt.diagnose.particular.collectives"
local fsdp = require "dt.diagnose.particular.fsdp"
local mesh = require "dt.diagnose.particular.mesh"
local mixed = require "dt.diagnose.particular.mixed"
local operators = require "dt.diagnose.particular.operators"
local parallel = require "dt.diagnose.particular.parallel"
local spmd_types = require "dt.diagnose.particular.spmd_types"

local M = {rows = {}}

local by_class = {}

local function add(row)
  M.rows[#M.rows + 1] = row
  for _, class in ipairs(type(row.class) == "table" and row.class or {row.class}) do
    by_class[class] = by_class[class] or {}
    table.insert(by_class[class], row)
  end
end

for _, part in ipairs {calls, checkpoint, collectives, fsdp, mesh, mixed, operators, parallel,
  spmd_types} do
  for _, row in ipairs(part) do add(row) end
end

-- of(class): the rows of a class, by its id.
function M.of(class) return by_class[class] or {} end

return M
