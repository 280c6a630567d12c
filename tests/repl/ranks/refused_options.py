# SPDX-License-Identifier: MIT
# Options of another type are refused by name; what a DTensor's local tensor says
# of gradients; modules that cannot become distributed by _apply.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.checkpoint.state_dict import set_optimizer_state_dict
from torch.distributed.fsdp import fully_shard, MixedPrecisionPolicy
from torch.distributed.tensor import (
    DTensor, distribute_tensor, init_device_mesh, Replicate, Shard)

mesh = init_device_mesh("cpu", (2,))


def show(name, f):
    try:
        print(name, f())
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n\n")[0])


x = torch.ones(2, 2, requires_grad=True)
d = DTensor.from_local(x, mesh, [Shard(0)])
for name, v in (("leaf", d), ("computed", DTensor.from_local(x * 2, mesh)),
                ("result", d * 2), ("detached", d.detach()),
                ("moved", d.redistribute(mesh, [Replicate()])),
                ("parameter", nn.Parameter(
                    distribute_tensor(torch.ones(2), mesh, [Shard(0)])))):
    print(name, v)
print(d._local_tensor.requires_grad, d._local_tensor.is_leaf)

t = torch.ones(2)
show("word", lambda: dist.all_reduce(t, op="sum"))
show("number", lambda: dist.all_reduce(t, op=3))
show("reduce", lambda: dist.reduce(t, 0, op="sum"))
show("scattered", lambda: dist.reduce_scatter_tensor(torch.ones(1), t, op="avg"))
show("none", lambda: dist.all_reduce(t, op=None))
show("root", lambda: dist.broadcast(t, src="0"))
show("right", lambda: dist.all_reduce(t, op=dist.ReduceOp.MAX))
print(t)

m = nn.Linear(4, 4)
show("apply", lambda: m._apply(lambda p: distribute_tensor(p, mesh, [Shard(0)])))
o = torch.optim.Adam(m.parameters())
show("empty", lambda: set_optimizer_state_dict(m, o, {}))
show("groups", lambda: set_optimizer_state_dict(
    m, o, {"state": {}, "param_groups": []}))
print(MixedPrecisionPolicy(param_dtype="x"))


def sharded(policy):
    fresh = nn.Linear(4, 4)
    fully_shard(fresh, mp_policy=policy)
    return fresh(torch.ones(1, 4))


show("policy", lambda: sharded("x"))
try:
    sharded(MixedPrecisionPolicy(param_dtype="x"))
except AttributeError as e:
    print(str(e).split(": ")[-1])
