# DT1206 net.b.weight at: opt.load_state_dict(saved)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        return self.b(self.a(x).tanh())
net = Two()
fully_shard(net)
data, goal = torch.randn(16, 6), torch.randn(16, 6)
def train(opt, steps):
    for step in range(steps):
        opt.zero_grad()
        F.mse_loss(net(data.chunk(world)[rank]), goal.chunk(world)[rank]).backward()
        opt.step()
first = torch.optim.Adam([*net.a.parameters(), *net.b.parameters()], lr=0.05)
train(first, 3)
saved = first.state_dict()
opt = torch.optim.Adam([*net.b.parameters(), *net.a.parameters()], lr=0.05)  # wrong
#right opt = torch.optim.Adam([*net.a.parameters(), *net.b.parameters()], lr=0.05)
opt.load_state_dict(saved)
train(opt, 2)
s = sum(p.detach().full_tensor().square().sum() for p in net.parameters())
print("result %.5f" % s.item())
