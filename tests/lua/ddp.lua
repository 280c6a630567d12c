-- TEST: ranks=4 world=threads tags=quick
-- SPDX-License-Identifier: MIT
-- Hooks after accumulation; DistributedDataParallel averages gradients, also
-- in its second iteration with new buckets; no_sync leaves them local.

local nn = dt.nn

local x = dt.ones({3}, {requires_grad = true})
local seen
x:register_post_accumulate_grad_hook(function (p)
  seen = p.grad:sum():item()
end)
local y = x * 2
y:sum():backward()
assert(seen == 6.0, "the hook sees .grad")
local ok, err = pcall(y.register_post_accumulate_grad_hook, y, print)
assert(not ok and err.message:find("non-leaf", 1, true), "leaves only")

local m = nn.Linear(3, 2)
local d = nn.parallel.DistributedDataParallel(m)
local r = dt.rank()
local function step()
  m:zero_grad()
  d(dt.ones({4, 3}) * r):sum():backward()
  return m.weight.grad:tolist()[1][1], m.bias.grad:tolist()[1]
end
for i = 1, 3 do
  local w, b = step()
  assert(w == 6.0 and b == 4.0, ("iteration %d: %s %s"):format(i, w, b))
end
do
  local guard <close> = d:no_sync()             -- luacheck: ignore guard
  assert(step() == 4.0 * r, "local gradients")
end

-- What does not require grad starts like rank 0's, too; buffers only where
-- they are broadcast.
do
  local part = nn.Linear(2, 2)
  part.bias:requires_grad_(false)
  local frozen <close> = dt.no_grad()           -- luacheck: ignore
  part.bias:fill_(dt.rank())
  part:register_buffer("seen", dt.full({2}, dt.rank() + 0.0))
  nn.parallel.DistributedDataParallel(part, {broadcast_buffers = false})
  assert(part.bias:sum():item() == 0, "a frozen parameter is rank 0's")
  assert(part.seen:sum():item() == 2 * dt.rank(), "a buffer is one's own")
end
