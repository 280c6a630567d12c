-- DT1098 low at: local low = F.linear
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local T, D, H, r = 5, 6, 16, 2
local x = dt.randn(T, H)
local w, A, B = dt.randn(D, H), dt.randn(r, H), dt.randn(D, r)
local per = H // world
local function mine(t) return t:narrow(1, rank * per, per):contiguous() end
local xl = mine(x)
local y = F.linear(xl, mine(w))
local low = F.linear(F.linear(xl, mine(A)), B)
dist.all_reduce(y)
y = y + low * 0.5 -- wrong
--right dist.all_reduce(low); y = y + low * 0.5
local out = y:pow(2):sum()
print(("result %.5f"):format(out:item()))
