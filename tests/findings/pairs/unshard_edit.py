# DT1089 p at: p.clamp_(-c, c)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    def forward(self, x): return self.net(x)

@torch.no_grad()
def clip_weights(critic, c):
    critic.unshard()  # wrong
    for p in critic.parameters():
        p.clamp_(-c, c)  # wrong
        #right p.to_local().clamp_(-c, c)
    critic.reshard()  # wrong

mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
torch.manual_seed(0)
critic = fully_shard(Critic(), mesh=mesh)
opt = torch.optim.RMSprop(critic.parameters(), lr=5e-3)
gen = torch.Generator().manual_seed(10 + rank)
for it in range(4):
    real, fake = torch.randn(4, 6, generator=gen) + 1, torch.randn(4, 6, generator=gen)
    loss = critic(fake).mean() - critic(real).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    clip_weights(critic, 0.1)
n = sum(p.full_tensor().abs().sum() for p in critic.parameters())
if rank == 0: print("result %.6f" % n.item())
dist.destroy_process_group()
