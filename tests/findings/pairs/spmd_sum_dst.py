# DT1080 all_reduce at: y = spmd.all_reduce(part, tp, src=spmd.P, dst=spmd.R)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import spmd_types as spmd
tp = dist.group.WORLD
torch.manual_seed(6)
full_up, full_down = torch.randn(8, 16) * 0.3, torch.randn(16, 8) * 0.3
up = nn.Parameter(full_up.chunk(world, 1)[rank].clone())
down = nn.Parameter(full_down.chunk(world, 0)[rank].clone())
gain = nn.Parameter(torch.ones(8))
opt = torch.optim.SGD([up, down, gain], lr=0.1)
for step in range(3):
    x = torch.randn(5, 8)
    h = spmd.convert(x * gain, tp, src=spmd.I, dst=spmd.R)
    part = torch.relu(h @ up) @ down
    y = spmd.all_reduce(part, tp, src=spmd.P, dst=spmd.R)  # wrong
    #right y = spmd.all_reduce(part, tp, src=spmd.P, dst=spmd.I)
    loss = F.mse_loss(y, x)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("gain %.5f" % gain.detach().sum().item())
dist.destroy_process_group()
