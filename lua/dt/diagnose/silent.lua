-- SPDX-License-Identifier: MIT
-- dt/diagnose/silent.lua: Python scenes of faults that raise nothing.  A scene
-- is {what =, name =, lines =, fails =, fixes =}: `fails` ends in an assertion
-- that the wrong thing happens and so holds; each fix asserts the right one.
-- `what` says what was seen; `name` is that of the mesh's dimension.

local FSDP <const> = "from torch.distributed.fsdp import fully_shard\n"

local STEP <const> = [[
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
moved = not torch.equal(before, model.weight.full_tensor())
]]
local COUNTS <const> = [[
count = 1 + 2 * dist.get_rank()
values = torch.full((count,), float(count))
]]

return {
  ["optimizer-built-before-sharding"] = {name = "fsdp",
    what = "the step ran and no parameter of the sharded model moved",
    lines = FSDP .. "model = nn.Linear(4, 4)\n",
    fails = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
      .. "fully_shard(model, mesh=mesh)\n"
      .. "before = model.weight.full_tensor().clone()\n" .. STEP
      .. "assert not moved",
    fixes = {{text = "make the optimizer after all parallelisation, before any "
      .. "forward", lines = "fully_shard(model, mesh=mesh)\n"
      .. "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
      .. "before = model.weight.full_tensor().clone()\n" .. STEP
      .. "assert moved"}}},
  ["to-local-grad-placement"] = {name = "tp",
    what = "the gradient is called Replicate and each rank has only its part",
    lines = "w = distribute_tensor(torch.ones(4), mesh, [Replicate()])"
      .. ".requires_grad_()\npart = torch.ones(4) * (dist.get_rank() + 1)\n",
    fails = "(w.to_local() * part).sum().backward()\n"
      .. "assert w.grad.to_local()[0].item() != 3",
    fixes = {{text = "state the gradient's placement, so that backward reduces "
      .. "what is partial", lines = "(w.to_local(grad_placements=[Partial()]) * "
      .. "part).sum().backward()\nassert w.grad.full_tensor()[0].item() == 3"}}},
  ["weighted-mean-loss"] = {name = "dp",
    what = "ranks with 1 and 3 tokens: the mean of their means is 2, that of "
      .. "all tokens 2.5",
    lines = COUNTS,
    fails = "loss = values.mean()\ndist.all_reduce(loss)\n"
      .. "assert loss.item() / 2 == 2.0",
    fixes = {{text = "sum, then divide by the global count",
      lines = "both = torch.stack([values.sum(), torch.tensor(float(count))])\n"
        .. "dist.all_reduce(both)\nassert both[0].item() / both[1].item() == 2.5"
      }}},
  ["grad-norm-is-partial-dtensor"] = {name = "dp",
    what = "the local value of the norm is smaller than the norm",
    lines = "w = distribute_tensor(torch.ones(8), mesh, [Shard(0)])\n"
      .. "norm = torch.nn.utils.get_total_norm([w])\n",
    fails = "assert norm.to_local().item() < 2.5",
    fixes = {{text = "reduce before reading, on all ranks",
      lines = "assert norm.full_tensor().item() > 2.5"}}},
  ["argmax-local-index"] = {name = "tp",
    what = "the largest of eight stands at 7; the last rank says 3",
    lines = "x = distribute_tensor(torch.arange(8.0), mesh, [Shard(0)])\n",
    fails = "assert x.to_local().argmax().item() == 3",
    fixes = {{text = "gather first: the index then counts in the whole "
      .. "dimension", lines = "y = x.redistribute(placements=[Replicate()])\n"
      .. "assert y.to_local().argmax().item() == 7"}}},
  ["partial-read-as-value"] = {name = "tp",
    what = "to_local() of a Partial is one addend, not the sum",
    lines = "x = DTensor.from_local(torch.ones(4), mesh, [Partial()])\n",
    fails = "assert x.to_local()[0].item() == 1",
    fixes = {{text = "reduce, then read: every rank gets the value",
      lines = "assert x.full_tensor()[0].item() == 2"}}},
  ["fsdp-2d-mesh-is-hsdp"] = {name = "dp",
    what = "a mesh of two dimensions replicates over the first: each rank "
      .. "holds whole weights",
    lines = FSDP .. 'grid = init_device_mesh("cpu", (2, 1), '
      .. 'mesh_dim_names=("dp", "cp"))\nmodel = nn.Linear(8, 8)\n',
    fails = "fully_shard(model, mesh=grid)\n"
      .. "assert model.weight.to_local().shape[0] == 8",
    fixes = {{text = "flatten both axes and pass the 1-D mesh",
      lines = 'fully_shard(model, mesh=grid["dp", "cp"]._flatten("dp_cp"))\n'
        .. "assert model.weight.to_local().shape[0] == 4"}}},
}
