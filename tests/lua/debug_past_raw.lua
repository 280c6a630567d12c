-- TEST: ranks={2} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- A collective of the script's own has no number of its own: it comes after the
-- operator before it, also when the past is asked for.

local T = require "tests.lua.lib.check"
local dist = dt.distributed

local x = dt.zeros(2)
x:fill_(1)
local filled = dt.debug.recording().last
for _ = 1, 100 do x:add_(1) end
dist.all_reduce(x)
local after = dt.debug.recording().last

T.ok(after >= filled + 100, "the last number is of the operator before it")

local function held(seq)
  local id
  for _, e in ipairs(dt.debug.entries(filled, filled)) do id = e.outputs[1].id end
  return dt.debug.quietly(function ()
    return dt.debug.revive(id, seq):tolist()[1]
  end)
end
T.eq(held(filled + 1), 1, "what was written before the collective")
T.eq(held(filled + 51), 51, "half way")
T.eq(held(after + 1), 202, "its result")
-- An operator far behind a collective is still found.
local ok, then_ = pcall(dt.debug.at, filled + 1)
T.ok(ok, "the past behind a collective: " .. tostring(then_))
T.eq(ok and then_.x:tolist()[1], 1, "and its values")
T.finish()
