-- TEST: ranks={1,2} needs=data
-- SPDX-License-Identifier: MIT
-- Why a call was refused is told as a reason beside the words: exported scripts
-- decide by it, since PyTorch's words change.

local T = require "tests.lua.lib.check"

local function reason_of(f)
  T.ok(not pcall(f), "is refused")
  return dt.debug.raised().reason
end

local leaf = dt.ones(3):requires_grad_()
T.eq(reason_of(function () leaf:add_(1) end), "leaf written", "a leaf")
local view = leaf:view(3, 1)
T.eq(reason_of(function () view:add_(1) end), "leaf view written",
  "a view of a leaf")
T.eq(reason_of(function () dt.ones(3):mm(leaf) end), nil, "another refusal")

-- What loss_parallel took over and refused keeps its reason in the record.
local mesh = dt.init_device_mesh("cpu", {dt.world_size()},
  {mesh_dim_names = {"tp"}})
local logits = dt.distribute_tensor(dt.ones(4, 8), mesh, {dt.Replicate()})
local target = dt.zeros(4):to(dt.i64)
T.ok(not pcall(dt.loss_parallel, function ()
  return dt.nn.functional.cross_entropy(logits, target)
end), "whole logits are refused")
local list = dt.debug.entries()
while #list > 0 and not list[#list].error do list[#list] = nil end
T.eq(list[#list].reason, "loss_parallel", "what loss_parallel took over")

T.finish()
