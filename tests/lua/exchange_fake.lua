-- TEST: ranks=4 world={fake} tags=quick
-- SPDX-License-Identifier: MIT
-- A fake world with data is one rank: nobody else says a size, so that parts of any
-- sizes are exchanged, as PyTorch's fake group does.  What is not sent is 0.

local T = require "tests.lua.lib.check"

local D = dt.distributed
dt._pretend_data(true)

local function exchange(outs, ins, total)
  local out = -dt.ones(total)
  D.all_to_all_single(out, dt.ones(8), outs, ins)
  return table.concat(out:tolist(), " ")
end
T.eq(exchange({1, 2, 3, 2}, {2, 2, 2, 2}, 8), "1.0 1.0 1.0 1.0 1.0 0.0 1.0 1.0", "uneven")
T.eq(exchange({1, 2, 1, 5}, {2, 2, 2, 2}, 9), "1.0 1.0 1.0 1.0 1.0 1.0 0.0 0.0 0.0",
  "more than is sent")

local out = dt.zeros(2)
D.scatter(out, {dt.ones(2) * 3, dt.ones(2), dt.ones(2), dt.ones(2)}, 0)
T.eq(table.concat(out:tolist(), " "), "3.0 3.0", "scatter")
T.throws("RuntimeError", "Split sizes doesn't match total dim 0 size", exchange,
  {1, 2, 3, 4}, {2, 2, 2, 2}, 8)
T.finish()
