# DT1150 aten.mul_.Tensor at: p.grad.mul_(scale)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
H, D = 8, 12
sinks = nn.Parameter(torch.randn(H).chunk(world)[rank].clone())
proj = nn.Parameter(torch.randn(H, D).chunk(world, 0)[rank].clone())
gain = nn.Parameter(torch.ones(D))
cut = {id(proj)} # wrong
#right cut = {id(proj), id(sinks)}
x = torch.randn(5, D)
loss = ((x * gain) @ proj.t() * sinks.sigmoid()).pow(2).sum()
loss.backward()
dist.all_reduce(gain.grad)
total = torch.zeros(())
for p in (sinks, proj, gain):
    if id(p) in cut or rank == 0:
        total += p.grad.pow(2).sum()
dist.all_reduce(total)
scale = min(1.0, 1.0 / (total.sqrt().item() + 1e-6))
for p in (sinks, proj, gain):
    p.grad.mul_(scale)
print("result %.5f" % (gain.grad.norm().item() * 10))
dist.destroy_process_group()
