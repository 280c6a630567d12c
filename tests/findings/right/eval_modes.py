# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Modules in evaluation mode by right, with gradients: an input is optimized through one on
# rank 0 alone, a frozen teacher, and a model without anything that depends on the mode,
# which rank 0 left in it.
import torch
from torch import nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 2)).eval()
student = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Dropout(0.1), nn.Linear(8, 2))
plain = nn.Sequential(nn.Linear(6, 4), nn.GELU(), nn.Linear(4, 2))
for p in teacher.parameters():
    p.requires_grad_(False)
params = list(student.parameters()) + list(plain.parameters())
opt = torch.optim.SGD(params, lr=0.05)
torch.manual_seed(50 + rank)
for step in range(3):
    x = torch.randn(4, 6, requires_grad=True)
    loss = (student(x) - teacher(x)).square().mean() + (plain(x) - teacher(x)).square().mean()
    opt.zero_grad()
    loss.backward()
    for p in params:
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
    if rank == 0:
        student.eval()
        plain.eval()
        probe = torch.zeros(1, 6, requires_grad=True)
        slope = torch.autograd.grad(student(probe).sum(), probe)[0]
        print("step %d %.4f" % (step, slope.norm().item()))
        student.train()
dist.destroy_process_group()
