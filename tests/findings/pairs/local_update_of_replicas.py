# DT1046 net[0].weight at: p.to_local().add_(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module

class SignSGD:
    def __init__(self, params, lr): self.params, self.lr = list(params), lr
    @torch.no_grad()
    def step(self):
        for p in self.params:
            g = p.grad
            #right g = g.redistribute(placements=[Replicate()])
            update = g.to_local().sign()  # wrong
            #right update = g.to_local().sign()
            p.to_local().add_(update, alpha=-self.lr)
            p.grad = None

mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
rank = dist.get_rank()
torch.manual_seed(0)
net = distribute_module(nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 1)), mesh)
opt = SignSGD(net.parameters(), 0.01)
gen = torch.Generator().manual_seed(rank)
for _ in range(4):
    x = torch.randn(8, 6, generator=gen)
    y = x.prod(1, keepdim=True)
    x, y = (DTensor.from_local(t, mesh, [Shard(0)]) for t in (x, y))
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.step()
s = sum(p.to_local().square().sum() for p in net.parameters())
if rank == 0: print("result %.6f" % s.item())
dist.destroy_process_group()
