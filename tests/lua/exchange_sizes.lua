-- TEST: ranks={2,4} world={threads,mpi} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Parts whose sizes or types the ranks do not agree on: gloo writes what it gets, or
-- ends the process; here all ranks raise alike, and name the first two.

local T = require "tests.lua.lib.check"

local me, n = dt.rank(), dt.world_size()
local D = dt.distributed
local function says(text, f, ...) T.throws("RuntimeError", text, f, ...) end
local function each(x, ...)
  local out = {...}
  for i = #out + 1, n do out[i] = x end
  return out
end
local exchange = D.all_to_all_single

-- Rank 0 sends a row less to itself, and one more to rank 1, than those expect.
local moved = me == 0 and each(2, 1, 3) or each(2)
says("rank 0 sends f32[1] to rank 0, which expects f32[2] from it", exchange,
  dt.zeros(2 * n), dt.ones(2 * n), each(2), moved)
says("rank 0 sends f32[3] to rank 1, which expects f32[2] from it", exchange,
  dt.zeros(2 * n), dt.ones(2 * n), me == 0 and each(2, 1, 3) or each(2), moved)

local own = {dtype = me == 0 and dt.float32 or dt.float64}
says("rank 0 sends f32[2] to rank 1, which expects f64[2] from it", exchange,
  dt.zeros({2 * n}, own), dt.ones({2 * n}, own), each(2), each(2))

says("Split sizes must be non-negative", exchange, dt.zeros(2 * n), dt.ones(2 * n),
  each(2, -1, 5), each(2))
says("Split sizes doesn't match total dim 0 size", exchange, dt.zeros(2 * n),
  dt.ones(2 * n), each(2, 1), each(2))
T.throws("TypeError", "input_split_sizes is no list of sizes", exchange,
  dt.zeros(2 * n), dt.ones(2 * n), 2, 2)

says("rank 1 sends f32[3] to rank 0, which expects f32[2] from it", D.gather,
  dt.ones(me == 1 and 3 or 2), me == 0 and each(dt.zeros(2)) or nil, 0)
says("rank 0 sends f32[2] to rank 1, which expects f32[3] from it", D.scatter,
  dt.ones(me == 1 and 3 or 2), me == 0 and each(dt.zeros(2)) or nil, 0)

-- The root of a call that fails on its own rank is none of the next call's.
if me == 0 then
  says("can't be cast", D.reduce, dt.zeros({2}, {dtype = dt.int64}), 0, {op = "avg"})
end
local ones = dt.ones(2)
D.all_reduce(ones)
T.close(ones, ones * 0 + n, "the next collective")

-- Parts of several sizes that all agree on are added up.
local parts = {}
for i = 1, n do parts[i] = dt.ones(i) * (me + 1) end
local sum = dt.zeros(me + 1)
D.reduce_scatter(sum, parts)
T.close(sum, sum * 0 + n * (n + 1) / 2, "each rank its own part")
parts[1] = dt.ones(me == 0 and 1 or 3)
says("rank 1 sends f32[3] to rank 0, which expects f32[1] from it", D.reduce_scatter,
  dt.zeros(me + 1), parts)

if me == 0 then D.send(dt.ones(2), 1)
elseif me == 1 then
  says("rank 0 sent f32 to rank 1, which receives it as i32", D.recv,
    dt.zeros({2}, {dtype = dt.int32}), 0)
end
T.finish()
