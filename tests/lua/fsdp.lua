-- TEST: ranks=4 world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- fully_shard: gradients are the mean over ranks and equal one device on the
-- whole batch; order and bytes of collectives; options; errors.

local T = require "tests.lua.lib.seeds"
local check = T.check
local n = 4
local mesh = dt.init_device_mesh("cpu", {n}, {mesh_dim_names = {"dp"}})
local close = dt.testing.assert_close

local function raises(class, text, f, ...)
  local ok, err = pcall(f, ...)
  check(not ok and type(err) == "table" and err.class == class
    and err.message:find(text, 1, true) ~= nil, class .. " " .. text,
    type(err) == "table" and err.message or tostring(err))
end

local function new_net()
  dt.manual_seed(3)
  return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 10))
end
local batch = dt.testing.fill({8, 16}, 13, 6, 4)
local mine = batch:narrow(0, dt.rank() * 2, 2)

-- mean over the batch = mean over ranks of the mean over each part
local reference = new_net()
reference(batch):mean():backward()

-- Train one step of a net sharded with `kw`; returns collectives by pass.
local function train(kw, wrap)
  local net = new_net()
  if wrap ~= false then
    dt.fully_shard(net[0], kw)
    dt.fully_shard(net[2], kw)
  end
  dt.fully_shard(net, kw)
  local loss, err, fwd = T.run(function () return net(mine):mean() end)
  check(err == nil, "forward", err and tostring(err.message or err))
  local _, berr, bwd = T.run(function () loss:backward() end)
  check(berr == nil, "backward", berr and tostring(berr.message or berr))
  return net, fwd, bwd
end

local function text(colls)
  local out = {}
  for i, c in ipairs(colls) do
    out[i] = c.coll .. " "
      .. c.bytes_in
  end
  return table.concat(out, ", ")
end

local function check_grads(net, what)
  for name, p in reference:named_parameters() do
    local q
    for other, param in net:named_parameters() do
      if other == name then q = param end
    end
    check(q.is_dtensor and q.grad and q.grad.is_dtensor, what .. " " .. name)
    if q.grad then close(q.grad:full_tensor(), p.grad) end
  end
end

-- [32,16]+[32] over 4: 136 floats a rank; [10,16..]: padded to 3 rows
local net, fwd, bwd, _ = train {mesh = mesh}
check_grads(net, "default")
check(text(fwd) == "_allgather_base_ 544, _allgather_base_ 396", "forward", text(fwd))
check(text(bwd) == "_allgather_base_ 396, _allgather_base_ 544, "
  .. "_reduce_scatter_base_ 1584, _reduce_scatter_base_ 2176", "backward", text(bwd))
check(net[2].weight:to_local().shape[1] == (dt.rank() == 3 and 1 or 3),
  "uneven shards 3,3,3,1")
check(tostring(net):find("FSDPSequential", 1, true) == 1, "class renamed")

net, _, bwd = train {mesh = mesh, reshard_after_forward = false}
check_grads(net, "no reshard")
check(text(bwd) == "_reduce_scatter_base_ 1584, "
  .. "_reduce_scatter_base_ 2176",
  "no gather in backward", text(bwd))

-- groups of two: backward gathers half of the padded whole from 2 ranks
net, _, bwd = train {mesh = mesh, reshard_after_forward = 2}
check_grads(net, "reshard 2")
check(text(bwd):find("_allgather_base_ 792, _allgather_base_ 1088", 1, true)
  == 1,
  "small groups", text(bwd))

-- the root alone: one gather, one reduction
net, fwd, bwd = train({mesh = mesh}, false)
check_grads(net, "root only")
check(#fwd == 1 and #bwd == 1, "root only", text(fwd) .. "; " .. text(bwd))

-- replicate and shard
net = train {mesh = dt.init_device_mesh("cpu", {2, 2},
  {mesh_dim_names = {"rep", "shard"}})}
check_grads(net, "hsdp")

-- lower precision travels; gradients come back in float32
net, fwd = train {mesh = mesh, mp_policy = dt.MixedPrecisionPolicy {
  param_dtype = dt.bfloat16, reduce_dtype = dt.float32}}
check(text(fwd) == "_allgather_base_ 272, _allgather_base_ 198", "bf16", text(fwd))
check(net[0].weight.grad.dtype == dt.float32, "gradient dtype")

-- an optimizer step and another forward see the new values
net = new_net()
dt.fully_shard(net, {mesh = mesh})
local o = dt.optim.SGD(net:parameters(), {lr = 0.1})
net(mine):mean():backward()
o:step()
local again = new_net()
again(batch):mean():backward()
dt.optim.SGD(again:parameters(), {lr = 0.1}):step()
net:reshard()
close(net(mine):detach(), again(mine):detach())

-- accumulation without reduction, then with
net = new_net()
dt.fully_shard(net, {mesh = mesh})
net:set_requires_gradient_sync(false)
local _, _, none = T.run(function () net(mine):mean():backward() end)
check(#none == 1, "no reduction", text(none))
net:set_requires_gradient_sync(true)
net(mine):mean():backward()
close(net[0].weight.grad:full_tensor(), reference[0].weight.grad * 2)

-- state and errors
check(net:state_dict()["0.weight"].is_dtensor, "state_dict is sharded")
raises("ValueError", "fully_shard expects a 1D or 2D DeviceMesh",
  dt.fully_shard, new_net(), {mesh = dt.init_device_mesh("cpu", {2, 2, 1})})
raises("AssertionError", "can only be applied to a module once",
  dt.fully_shard, net, {mesh = mesh})
raises("ValueError", "does not support containers", dt.fully_shard,
  nn.ModuleList {nn.Linear(2, 2)}, {mesh = mesh})
raises("ValueError", "should be a factor of 4, not 3", dt.fully_shard,
  new_net(), {mesh = mesh, reshard_after_forward = 3})
local scalar = nn.Identity()
scalar.s = nn.Parameter(dt.tensor(1.0))
raises("ValueError", "doesn't support scalar parameters", dt.fully_shard,
  scalar, {mesh = mesh})

-- What is sent of a gradient that does not divide evenly is zero behind its end,
-- whatever lay in that memory.
for n = 1, 64 do
  local nothing = dt.full({n}, 0 / 0)
end
collectgarbage()
net = nn.Linear(4, 5)
dt.fully_shard(net, {mesh = mesh})
net(dt.ones(2, 4)):sum():backward()
local sent
for _, e in ipairs(dt.debug.entries()) do
  if e.raw and e.raw.kind == "reduce_scatter" then
    sent = assert(dt.debug.revive(e.inputs[1].id, math.maxinteger))
  end
end
check(sent and sent:numel() == 2 * 4 * (4 + 1), "5 rows of 4 ranks are 8")
close(sent:sum(), dt.tensor(5 * 4 * 2.0 + 5 * 2))
T.finish()
