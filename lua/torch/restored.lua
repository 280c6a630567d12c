-- SPDX-License-Identifier: MIT
-- torch/restored.lua: optimizers that got the state of a checkpoint, for the
-- schedulers that set their rates.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"

local M = {}

-- Its groups, with their rates, are those of a checkpoint now.
function M.note(opt)
  rawset(opt, "restored", true)
  rawset(opt, "went_on", nil)
end

-- Was that so when it made its last step?  Its scheduler, which sets other rates
-- where it was not restored as well, asks for it once: the answer is forgotten.
local function ask(opt)
  if type(opt) ~= "table" or not rawget(opt, "went_on") then return false end
  rawset(opt, "restored", nil)
  rawset(opt, "went_on", nil)
  return true
end

-- For the schedulers, which are classes of Python's (pylib): how many steps one is
-- made for and which one it made; whether rates were restored; that one began anew.
attrs.provide("_schedules", attrs.namespace {
  note_step = V.builtin(function (a)
    dt._scheduled(a[1], a[2])
    return dt.None
  end, "note_step"),
  restored_rates = V.builtin(function (a) return ask(a[1]) end, "restored_rates"),
  note_fresh = V.builtin(function (a)
    dt._finding("SCHEDULE_FRESH", nil, a[1], "lr_scheduler.step")
    return dt.None
  end, "note_fresh")})

return M
