-- SPDX-License-Identifier: MIT
-- torch/testing.lua: what the test harness, which is Python (pylib), asks
-- of the engine and of the program: the module _dtrepl.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local managers = require "python.managers"
local builtins = require "python.builtins"
local exceptions = require "python.exceptions"
local base = require "dt.optim.base"
local meshes = require "torch.mesh"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace
local program = {}                  -- its names

local M = {}

-- begin(vars): a program begins, whose names these are.
function M.begin(vars) program = vars end

-- Ranks meet; which of them failed, or None where one stands for all.
local function meet(a)
  local met = dt._meet(V.truth(a[1]))
  return met and V.list(met) or None
end

-- The values of all ranks, in their order.
local function gather(a)
  local dist = attrs.module "torch.distributed"
  local out = V.list({}, dt.world_size())
  for i = 1, out.n do out[i] = None end
  local before = meshes.begin_default(true)
  V.call(dist.all_gather_object, V.list {out, a[1]})
  meshes.begin_default(before)
  return out
end

-- The classes of the program below a class, by name.
local function classes(a)
  local d, names = V.dict(), {}
  for name, v in next, program do
    if type(name) == "string" and v ~= a[1] then
      local ok, below = pcall(builtins.names.issubclass.call,
        V.list {v, a[1]})
      if ok and below == true then names[#names + 1] = name end
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do V.dict_set(d, name, program[name]) end
  return d
end

-- The words of an error: its class, its text, and where it was raised.
local function trace(a)
  local e = exceptions.exception(a[1])
  local text = V.str(e)
  local last = exceptions.class_of(e).__name__ or e.class
  last = (e.class ~= nil and not exceptions.classes[e.class]
    and not rawget(e, "python") and e.class or last)
    .. (text == "" and "" or ": " .. text)
  local file, line = tostring(e.where or ""):match("^(.*):(%d+)$")
  if not file then return last end
  return ("Traceback (most recent call last):\n  File \"%s\", line %s\n%s")
    :format(file, line, last)
end

-- The process groups there are, the world's first.
local function groups()
  meshes.world_group()
  return V.list {table.unpack(meshes.groups())}
end

-- world(n, rank, fake): from now on the program sees ranks 0 to n - 1 alone, or
-- is rank `rank` of a pretended world; home(): all of them again.
local function home()
  dt._world_home()
  meshes.forget_groups()
  return None
end

local function world(a)
  home()
  if V.truth(a[3] or false) then
    dt._world_fake(a[1], a[2])
  else
    dt._world_part(a[1])
  end
  return None
end

-- group(on): the test's ranks have a default group from now on, or none.
local function group(a)
  meshes.begin_default(a[1])
  return None
end

-- Asks for n ranks; ends the program when it may begin again with them.
local function grow(a)
  if dt._wants_ranks(a[1]) then os.exit(0) end
  return None
end

-- leave(scope, kind, error, trace): whether the error ends there.
local function leave(a)
  local err = a[3]
  if err == None then err = nil end
  return managers.leave(a[1], err)
end

-- has_methods(class, name, ...): does the class define all of these?
local function has_methods(a)
  for i = 2, a.n do
    local f = type(a[1]) == "table" and a[1][a[i]]
    if f == nil or f == None then return V.not_implemented end
  end
  return true
end

-- piped_sum(loss, microbatches): the loss of one, whose gradients are divided by them.
local function piped_sum(a)
  if util.is_tensor(a[1]) and dt._is_sum(a[1]) then
    dt._finding_made("PIPED_SUM", a[1], ("the loss of a microbatch is a sum over its "
      .. "elements, and the gradients are divided by %d"):format(a[2]))
  end
  return None
end

-- stage_layers(last, first, s, t, enough): parameters of stages s and t of this rank, the
-- last and the first; one that made `enough` made those of the stages between, too.
local function stage_layers(a)
  local between, all = dt._params_between(a[1], a[2])
  if between == 0 and all >= a[5] then
    dt._finding("STAGE_LAYERS", a[2], ("stages %d and %d hold layers that were made one "
      .. "right after the other, and those of %d stages lie between"):format(a[3], a[4],
      a[4] - a[3] - 1), "PipelineStage")
  end
  return None
end

-- alone(parameter, n): FSDP1 with one rank to shard over does not reduce the gradient of
-- the copies on n ranks.
local function alone(a)
  dt._solo(a[1], ("the mesh has one rank to shard over, with which FSDP1 does not reduce "
    .. "over its other dimension: %d ranks train copies of their own"):format(a[2]))
  return None
end

-- passed(): a test has passed.  It compares its numbers itself, often of what would be
-- a mistake anywhere else, as of one batch on all ranks: nothing is told of it.
local function passed()
  dt.debug.findings_clear()
  return None
end

attrs.provide("_dtrepl", namespace {
  world = builtin(world, "world"), home = builtin(home, "home"),
  grow = builtin(grow, "grow"), group = builtin(group, "group"),
  enter = builtin(function (a) return managers.enter(a[1]) end, "enter"),
  is_guard = builtin(function (a) return managers.is_guard(a[1]) end, "is_guard"),
  leave = builtin(leave, "leave"), passed = builtin(passed, "passed"),
  alone = builtin(alone, "alone"),
  has_methods = builtin(has_methods, "has_methods"),
  groups = builtin(groups, "groups"),
  piece = builtin(function (a) dt._piece(a[1]) return dt.None end, "piece"),
  flat = builtin(function (a) base.flat[a[1]] = true return dt.None end, "flat"),
  stage = builtin(function (a) dt._stage(a[1]) return dt.None end, "stage"),
  piped_sum = builtin(piped_sum, "piped_sum"),
  stage_layers = builtin(stage_layers, "stage_layers"),
  source = builtin(function (a) dt._source(a[1]) return dt.None end, "source"),
  shows = builtin(function (a) dt._shows(a[1], a[2]) return dt.None end, "shows"),
  meet = builtin(meet, "meet"), gather = builtin(gather, "gather"),
  classes = builtin(classes, "classes"), trace = builtin(trace, "trace"),
  rank = builtin(dt.rank, "rank"),
  world_size = builtin(dt.world_size, "world_size"),
  fake = builtin(dt.is_fake, "fake"),
  release = builtin(function () return dt._profile().torch end, "release"),
})

return M
