-- BENCH: -n 2 --trust --raw
-- SPDX-License-Identifier: MIT
-- :shrink of a failing run of 50 operators.  Processor time of all ranks.
-- Prints "name value unit budget".

local mesh = dt.init_device_mesh("cpu", {2})
dt.debug.recording{ring = 2000}
local h = dt.distribute_tensor(dt.ones(8, 8), mesh, {Shard(0)})
local w = dt.distribute_tensor(dt.ones(8, 8), mesh, {Shard(1)})
local mask = dt.ones(8, 8)
for _ = 1, 12 do h = ((h:mm(w) * 0.1):relu() + h) * 0.5 end
local ok = pcall(function () return h + mask end)
assert(not ok, "a mixed call")
local t0 = os.clock()
local small = dt.debug.shrink()
local t = os.clock() - t0
if dt.rank() == 0 then
  assert(small.error == "DT0101" and small.steps <= 3, "shrunk")
  print(("shrink_of_50_ops %.3f s 5"):format(t))
end
