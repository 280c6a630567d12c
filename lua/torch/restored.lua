-- SPDX-License-Identifier: MIT
-- torch/restored.lua: optimizers that got the state of a checkpoint, for the
-- schedulers that set their rates.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"
local util = require "dt.util"

local M = {}

local moments_of = {exp_avg = true, exp_avg_sq = true, momentum_buffer = true,
  square_avg = true, sum = true, acc_delta = true, row_var = true}

-- Its groups, with their rates, are those of a checkpoint now.
function M.note(opt)
  rawset(opt, "restored", true)
  rawset(opt, "went_on", nil)
end

-- Moments of a parameter, which is to get its own back.
function M.note_moment(note, p, v, key)
  if moments_of[key] and util.is_tensor(v) then note(p, v, key) end
end

-- ---- moments that a load leaves in the file ----

local saved, left = {}, nil     -- by folder; those of the load under way

local function shape_of(t) return table.concat(t.shape, ",") end

-- What `rows` ({path, value}) say of an optimizer: a name and the shapes of its moments,
-- its rates; nil: they hold no moments.
local function look(rows)
  local name, rates, shapes = nil, {}, {}
  for _, row in ipairs(rows) do
    local last = row.path[#row.path]
    if moments_of[last] then
      name = name or table.concat(row.path, ".")
      if util.is_tensor(row.value) then shapes[shape_of(row.value)] = true end
    end
    if last == "lr" and type(row.value) == "number" then rates[row.value] = true end
  end
  return name and {name = name, rates = rates, shapes = shapes}
end

-- What this run saves in a folder, and what it loads from there.
function M.note_saved(folder, rows)
  saved[folder] = look(rows)
end

function M.note_loaded(folder, rows)
  left = not look(rows) and saved[folder] or nil
  dt._moments_left(left and left.name or nil)
end

-- Are there moments for each of its parameters?  Else it trains another model.
local function has_moments(shapes, params)
  for _, p in ipairs(params) do
    if not shapes[shape_of(p)] then return false end
  end
  return true
end

-- An optimizer made its first step: with the rate of the one that was saved it goes
-- on with the training, and its moments begin anew.
function M.note_first_step(opt)
  local g = opt.param_groups[1]
  if left and g and left.rates[g.lr] and has_moments(left.shapes, g.params) then
    dt._moments_fresh()
  end
  left = nil
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
