-- SPDX-License-Identifier: MIT
-- dt/fsdp/finalize.lua: the end of a backward pass: by itself, or, with
-- set_manual_backward_finalization, when the caller says so; and beginning anew
-- after an exception.
--
-- A state is that of one fully_shard call (init.lua); comm is shared by all
-- states of a tree since its first forward; comm.reducing is the handle of an
-- asynchronous finalization that nobody waited for yet.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local function name_of(state)
  return state.api == "replicate" and "Replicate" or "FSDP"
end

local function raise(text, ...) util.raise("RuntimeError", text, ...) end

-- ---- the mode ----

-- Before the first forward of a tree: only its root may have the mode.
function M.check_tree(state)
  for _, m in ipairs(state.modules) do
    for sub in m:modules() do
      local s = sub._attrs._fsdp_state
      if s and s ~= state and s.manual then
        raise("set_manual_backward_finalization must be called on the root %s "
          .. "module", name_of(state))
      end
    end
  end
end

-- A forward may not begin while a reduction is under way.
function M.check_forward(state)
  if state.comm and state.comm.reducing then
    raise("The previous gradient reduction must be waited on before forward")
  end
end

-- set_manual_backward_finalization(on)
function M.set_mode(state, on)
  local comm = state.comm
  if comm and not state.is_root then
    raise("set_manual_backward_finalization must be called on the root %s "
      .. "module", name_of(state))
  end
  on = on == true
  if not comm then
    state.manual = on
    return
  end
  if comm.queued and on ~= (comm.manual == true) then
    raise("set_manual_backward_finalization cannot change mode during backward")
  elseif comm.manual_active ~= nil and on ~= comm.manual_active then
    raise("set_manual_backward_finalization cannot change mode after backward "
      .. "starts")
  end
  comm.manual = on
end

-- The first hook of a backward pass fixes its mode.
function M.begin_backward(comm)
  comm.queued = true
  if comm.manual_active == nil then comm.manual_active = comm.manual == true end
end

-- ---- the end ----

-- Gathers for nothing are dropped, the order of forwards begins anew.
function M.end_iteration(comm)
  for _, s in ipairs(comm.states) do
    if s.group then s.group:forget_gather() end
  end
  comm.order, comm.manual_active = {}, nil
end

local function unit_name(state)
  local root = state.comm.states[1].modules[1]
  for name, m in root:named_modules() do
    if m == state.modules[1] and name ~= "" then return name end
  end
  return "<root>"
end

-- Sums that wait for their all-reduce cannot be finished so.
local function check_groups(state)
  for _, s in ipairs(state.comm.states) do
    if s.group and s.group.partial then
      raise("%s manual backward finalization does not support partial gradient "
        .. "reductions for parameter group '%s'. Use automatic backward "
        .. "finalization for this configuration", name_of(state), unit_name(s))
    end
  end
  for _, s in ipairs(state.comm.states) do
    local group = s.group
    if group and group.owed and group.sync and group.info.replicate_mdim
       and not group.all_reduce then
      raise("%s manual backward finalization requires all-reduce for parameter "
        .. "group '%s'. Call set_requires_all_reduce(True) before finalization",
        name_of(state), unit_name(s))
    end
  end
end

local function check(state)
  local comm = state.comm
  if not state.is_root then
    raise("finalize_backward must be called on the root %s module",
      name_of(state))
  end
  local manual = comm.manual_active
  if manual == nil then manual = comm.manual end
  if not manual then
    raise("%s finalize_backward requires manual backward finalization. Call "
      .. "set_manual_backward_finalization(True) before forward", name_of(state))
  elseif comm.queued then
    raise("%s finalize_backward must be called after backward completes",
      name_of(state))
  end
  check_groups(state)
end

-- Groups from the last to the first: reduce what is owed, free what is whole.
local function finish_groups(comm)
  for i = #comm.states, 1, -1 do
    local group = comm.states[i].group
    if group then
      if group.owed then
        group:post_backward()
        group.done = false
      elseif group.reshard_after_backward ~= false then
        group:reshard_now(false)
      end
    end
  end
end

local Handle = {__name = "GradientReductionHandle"}
Handle.__index = Handle

-- handle:wait(): gradients are reduced; a second time nothing.
function Handle:wait()
  local comm = self.comm
  if not comm then return end
  if comm.reducing ~= self then
    raise("This gradient reduction handle was invalidated")
  end
  M.end_iteration(comm)
  self.comm, comm.reducing = nil, nil
end

-- finalize_backward{async_op=}: nothing before the first forward.
function M.finalize(state, async)
  local comm = state.comm
  local handle = async and setmetatable({}, Handle) or nil
  if not comm then return handle end
  if comm.reducing then
    raise("The previous gradient reduction must be waited on before finalizing "
      .. "backward again")
  end
  check(state)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  finish_groups(comm)
  if not async then return M.end_iteration(comm) end
  handle.comm, comm.reducing = comm, handle
  return handle
end

-- reset_iter_state()
function M.reset(state)
  local comm = state.comm
  if not comm then return end
  if not state.is_root then
    raise("reset_iter_state must be called on the root FSDP module")
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, s in ipairs(comm.states) do
    s.to_run, s.training = {}, "idle"
    if s.group then s.group:reset() end
  end
  comm.order, comm.queued = {}, false
  comm.manual_active, comm.reducing = nil, nil
end

return M
