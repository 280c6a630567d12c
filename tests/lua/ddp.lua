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

-- ---- unused parameters ----

local DDP = nn.parallel.DistributedDataParallel

local function raises(class, text, f, ...)
  local good, e = pcall(f, ...)
  assert(not good and type(e) == "table", text .. ": nothing was raised")
  assert(e.class == class and e.message:find(text, 1, true),
    ("%s: %s\nwanted %s: %s"):format(e.class, e.message, class, text))
end

-- Two layers of which a forward takes one.
local Fork = nn.Module:extend("Fork")

function Fork:__init__(pick)
  self.a = nn.Linear(2, 2)
  self.b = nn.Linear(2, 2)
  self.pick = pick
end

function Fork:forward(v)
  return self.pick == "both" and self.a(v) or self[self.pick](v), self.b(v)
end

local function grads(fork)
  local out = {}
  for i, name in ipairs {"a", "b"} do
    local w = fork[name].weight
    out[i] = w.grad and w.grad:sum():item() or "none"
  end
  return table.concat(out, " ")
end

-- Rank 0 takes a, the others b; what another rank used is averaged, and what
-- was there before belongs to it.
local fork = Fork(r == 0 and "a" or "b")
local forked = DDP(fork, {find_unused_parameters = true})
for _, want in ipairs {"1.0 3.0", "2.0 6.0"} do
  forked(dt.ones({1, 2})):sum():backward()
  assert(grads(fork) == want, grads(fork))
end

-- What nobody's loss comes from keeps no gradient, also where it was an
-- output.
for _, kw in ipairs {{find_unused_parameters = true}, {static_graph = true}} do
  fork = Fork("a")
  forked = DDP(fork, kw)
  for _, want in ipairs {"4.0 none", "8.0 none"} do
    forked(dt.ones({1, 2})):sum():backward()
    assert(grads(fork) == want, grads(fork))
  end
end

-- Outputs in a table, in another: the loss takes one of them.
do
  local deep = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
  function deep:forward(v) return {y = {self["0"](v)}, z = self["1"](v)} end
  local wrapped = DDP(deep, {find_unused_parameters = true})
  for i = 1, 3 do
    wrapped(dt.ones({1, 1})).y[1]:sum():backward()
    assert(deep["0"].weight.grad:item() == i and not deep["1"].weight.grad)
  end
end

-- Two forwards before one backward; ranks that hold copies by a group.
do
  local one = nn.Linear(1, 1, {bias = false})
  local copies = DDP(one, {process_group = dt.init_device_mesh("cpu",
    {dt.world_size()})})
  local row = dt.ones({1, 1})
  copies(row)
  local twice = copies(row):sum() + copies(row):sum()
  twice:backward()
  assert(one.weight.grad:item() == 2)
end

-- A static graph in which a layer is never called.
do
  local part = nn.Sequential(nn.Linear(1, 1, {bias = false}), nn.Linear(1, 1))
  function part:forward(v) return self["0"](v) end
  local static = DDP(part, {static_graph = true})
  for i = 1, 4 do
    static(dt.ones({1, 1})):sum():backward()
    assert(part["0"].weight.grad:item() == i)
  end
end

fork = Fork("a")
forked = DDP(fork)
forked(dt.ones({1, 2})):sum():backward()
raises("RuntimeError", "Expected to have finished reduction in the prior "
  .. "iteration before starting a new one.", forked, dt.ones({1, 2}))
raises("RuntimeError", ("\nParameter indices which did not receive grad for "
  .. "rank %d: 2 3\n"):format(r), forked, dt.ones({1, 2}))

-- ---- what ranks compare, and what they do not ----

local function filled(v)
  local net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for p in net:parameters() do p:fill_(v) end
  return net
end

local own = filled(r)
local loose = DDP(own, {init_sync = false})
loose(dt.ones({1, 2})):sum():backward()
assert(own[0].weight:sum():item() == 4 * r, "values are one's own")

-- Rank 0 sees no difference and sends its values; the others take them.
do
  local odd = nn.Linear(4, 4)
  local world = dt.init_device_mesh("cpu", {dt.world_size()})
  if r == 0 then
    DDP(odd, {process_group = world})
  else
    odd.weight = nn.Parameter(dt.ones({4, 4}):t())
    raises("RuntimeError", "params[0] in this process with sizes [4, 4] "
      .. "appears not to match strides of the same param in process 0.", DDP,
      odd, {process_group = world})
    dt._coll("broadcast", dt.zeros(20), world, 0, {src = 0,
      name = "broadcast_"})
  end
end

-- Of several forwards the last one says what goes unused, as in PyTorch.
do
  local three = dt.nn.Module()
  for i = 1, 3 do
    three:register_parameter("w" .. i, nn.Parameter(dt.ones(2)))
  end
  function three.forward(m, which) return m["w" .. which] * 2 end
  local wrapped3 = DDP(three, {find_unused_parameters = true})
  local first = wrapped3(1)
  wrapped3(2)
  raises("RuntimeError", "Parameter at index 0 with name .w1 has been marked as ready",
    function () first:sum():backward() end)
end

-- ---- replicate ----

local replicate = nn.parallel.replicate
local part = filled(r)
replicate(part, {ignored_modules = {part[1]}})
part(dt.ones({1, 2})):sum():backward()
assert(part[0].weight:sum():item() == 0, "rank 0's values")
assert(part[1].weight:sum():item() == 4 * r, "an ignored module's own")
raises("AssertionError", "Each distinct composable distributed API can only be "
  .. "applied to a module once. replicate has already been applied to the "
  .. "following module:\nDDPLinear(in_features=2, out_features=2, bias=True)",
  replicate, replicate(nn.Linear(2, 2)))
raises("RuntimeError", "Expected device_id to be int or torch.device, but got "
  .. "<class 'str'>", replicate, nn.Linear(2, 2), {device_id = "x"})
