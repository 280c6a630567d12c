-- DT1150 signal at: local spec = dt.fft.rfft(signal):abs():pow(2)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
-- a long signal, cut in time; its power spectrum
local T, C = 32, 3
local x = dt.randn(C, T):cumsum(1)
local mine = x:chunk(world, 1)[rank + 1]:contiguous()
local signal = mine
--right local all = dt.empty({world, C, T // world})
--right dist.all_gather_into_tensor(all, mine:unsqueeze(0)); signal = all:transpose(0, 1):reshape(C, T)
local spec = dt.fft.rfft(signal):abs():pow(2)
local power = spec:sum()
power = power / world -- wrong
dist.all_reduce(power) -- wrong
print(("result %.4f"):format(power:item()))
