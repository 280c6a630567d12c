# DT1047 b.alpha at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
mesh = init_device_mesh("cpu", (4,))
rank = mesh.get_local_rank()
torch.manual_seed(0)

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.alpha = nn.Parameter(torch.tensor([0.5]))
    def forward(self, x):
        return x + self.alpha * torch.tanh(self.fc(x))

model = nn.Sequential(Block(8), Block(8), nn.Linear(8, 1))
alphas = {m.alpha for m in model if isinstance(m, Block)}
for b in model[:2]:
    fully_shard(b, ignored_params=alphas)
fully_shard(model, ignored_params=alphas)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
x, y = torch.randn(16, 8), torch.randn(16, 1)
bx, by = x.chunk(mesh.size())[rank], y.chunk(mesh.size())[rank]
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(bx), by)
    loss.backward()
    #right for a in alphas:
    #right     dist.all_reduce(a.grad, op=dist.ReduceOp.SUM)
    #right     a.grad /= mesh.size()
    opt.step()
if rank == 0:
    print("alpha %.6f %.6f" % (model[0].alpha.item(), model[1].alpha.item()))
dist.destroy_process_group()
