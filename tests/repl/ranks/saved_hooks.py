# SPDX-License-Identifier: MIT
# saved_tensors_hooks around DTensors, tensor parallelism and checkpoints; save_on_cpu;
# a TorchDispatchMode that sees DTensors.
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.tensor import DTensor, Shard, Replicate, distribute_tensor, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
from torch.utils.checkpoint import checkpoint
dist.init_process_group("gloo")
r, n = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (n,))
ev = []
def pk(t):
    ev.append(("p", isinstance(t, DTensor), tuple(t.shape), tuple(t.to_local().shape) if isinstance(t, DTensor) else None))
    return t
def un(t):
    ev.append(("u", isinstance(t, DTensor), tuple(t.shape)))
    return t
H = lambda: torch.autograd.graph.saved_tensors_hooks(pk, un)
def show(name):
    if r == 0:
        print(name)
        for e in ev: print("  ", e)
    ev.clear()
x = distribute_tensor(torch.arange(8.).view(4, 2), mesh, [Shard(0)]).requires_grad_()
with H():
    y = (x.exp() * x).sum()
show("dtensor")
y.backward()
show("backward")
print(r, round(x.grad.to_local().sum().item(), 1))
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
parallelize_module(m, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
a = torch.ones(2, 4, requires_grad=True)
with H(): y = m(a).abs().sum()
show("tp")
y.backward()
show("tp back")
print(r, round(a.grad.sum().item(), 3))
f = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
torch.manual_seed(1)
for p in f.parameters(): nn.init.ones_(p)
for l in f: fully_shard(l)
fully_shard(f)
with torch.autograd.graph.save_on_cpu():
    y = f(a.detach() / 8).sum()
y.backward()
print(r, round(f[0].weight.grad.full_tensor().sum().item(), 3))
with H(): y = checkpoint(m, a, use_reentrant=False).sum()
show("ck")
y.backward()
show("ck back")
from torch.utils._python_dispatch import TorchDispatchMode
class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if r == 0: print(func, [t.__name__ for t in types], [str(a.placements) if isinstance(a, DTensor) else type(a).__name__ for a in args], out.placements if isinstance(out, DTensor) else type(out).__name__)
        return out
a = distribute_tensor(torch.arange(8.).view(4, 2), mesh, [Shard(0)]).requires_grad_()
b = distribute_tensor(torch.ones(2, 4), mesh, [Shard(1)]).requires_grad_()
with Log():
    y = (a @ b).relu().sum()
    y.backward()
print(r, a.grad.placements, b.grad.full_tensor().tolist())
dist.destroy_process_group()
