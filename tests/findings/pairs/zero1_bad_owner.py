# DT1074 model[0].bias at: dist.broadcast(p.data, src=i // world)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
params = list(model.parameters())
class Zero1:
    def __init__(self, params, lr):
        self.params = params
        self.owner = [i % world for i in range(len(params))]
        self.opt = torch.optim.Adam([p for p, o in zip(params, self.owner) if o == rank], lr=lr)
    def step(self):
        for p in self.params:
            dist.all_reduce(p.grad); p.grad /= world
        self.opt.step()
        for i, p in enumerate(self.params):
            dist.broadcast(p.data, src=i // world)  # wrong
            #right dist.broadcast(p.data, src=self.owner[i])
opt = Zero1(params, 1e-2)
X = torch.randn(32, 6)
x = X.chunk(world)[rank]
for _ in range(3):
    for p in params: p.grad = None
    model(x).square().mean().backward()
    opt.step()
print("%.5f" % model(X).sum().item())
