# DT1150 aten.sign.default at: self.expert_bias.add_
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
E, D = 4, 8

class Moe(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.w = nn.Parameter(torch.randn(E, D, D) * 0.3)
        self.register_buffer("expert_bias", torch.zeros(E))
        self.register_buffer("tokens", torch.zeros(E))

    def forward(self, x):
        s = torch.sigmoid(self.gate(x))
        _, idx = (s + self.expert_bias).topk(2, dim=-1)
        hot = torch.zeros_like(s).scatter(1, idx, 1.0)
        with torch.no_grad():
            self.tokens.add_(hot.sum(0))
        return x + torch.einsum("td,edf,te->tf", x, self.w, s * hot)

    @torch.no_grad()
    def update_bias(self):
        #right dist.all_reduce(self.tokens)
        self.expert_bias.add_(0.05 * torch.sign(self.tokens.mean() - self.tokens))
        self.tokens.zero_()

model = Moe()
fully_shard(model)
opt = torch.optim.AdamW(model.parameters(), lr=0.02)
x, y = torch.randn(24, D), torch.randn(24, D)
bx, by = x.chunk(mesh.size())[rank], y.chunk(mesh.size())[rank]
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(bx), by)
    loss.backward()
    opt.step()
    model.update_bias()
total = loss.detach().clone()
dist.all_reduce(total)
if rank == 0:
    print("loss %.6f" % (total.item() / mesh.size()))
dist.destroy_process_group()
