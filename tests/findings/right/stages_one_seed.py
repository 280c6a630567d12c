# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# Stages of a pipeline that were all drawn with one seed, so that they begin with the
# same values, and are other layers all the same.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
stage = nn.Linear(6, 6)
opt = torch.optim.SGD(stage.parameters(), lr=0.1)
torch.manual_seed(1)
x, y = torch.randn(4, 6), torch.randn(4, 6)
for step in range(3):
    opt.zero_grad()
    h = x if rank == 0 else torch.empty(4, 6)
    if rank > 0:
        dist.recv(h, rank - 1)
        h.requires_grad_(True)
    out = torch.tanh(stage(h))
    if rank < world - 1:
        dist.send(out.detach(), rank + 1)
        g = torch.empty(4, 6)
        dist.recv(g, rank + 1)
        out.backward(g)
    else:
        F.mse_loss(out, y).backward()
    if rank > 0:
        dist.send(h.grad, rank - 1)
    opt.step()
print("done")
dist.destroy_process_group()
