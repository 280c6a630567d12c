-- TEST: ranks=1 world=threads
-- SPDX-License-Identifier: MIT
-- What a rank tells the coordinator of a save is as long as PyTorch's pickle of
-- its plan: a release later tensors' strides go along.

local T = require "tests.lua.lib.check"
local plans = require "torch.dcp_plan"
local plan = require "dt.checkpoint.plan"
local python = require "torch"

local env = python.environment()
python.run([=[
import torch
one = {"w": torch.zeros(4, 3)}
two = {"w": torch.zeros(4, 3), "b": torch.zeros(5)}
]=], env)

local function offered(release, name)
  dt._set_profile(release)
  return plan.save({plans.items(python.value(name, env))}, "x").offered[1]
end

-- len(pickle.dumps(DefaultSavePlanner().create_local_plan())) of each release
for _, case in ipairs {{"2.13", 634, 771}, {"2.14", 634, 771},
    {"2.15", 640, 781}} do
  T.eq(offered(case[1], "one"), case[2], case[1])
  T.eq(offered(case[1], "two"), case[3], case[1])
end
T.finish()
