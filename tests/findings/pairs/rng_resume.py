# DT1093 torch.default_generator at: torch.set_rng_state
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
import os, tempfile
class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 12), nn.SiLU(), nn.Linear(12, 6))
    def forward(self, x):
        noise = torch.randn_like(x)
        return F.mse_loss(self.net(x + noise), noise)

model = Denoiser()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(16, 6).chunk(world)[rank]
torch.manual_seed(100 + rank)
def train(n):
    for _ in range(n):
        opt.zero_grad()
        model(data).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
train(2)
state = [torch.get_rng_state()]
dist.broadcast_object_list(state, 0)  # wrong
torch.set_rng_state(state[0])
train(2)
print("result %.5f" % sum(p.detach().abs().sum() for p in model.parameters()).item())
