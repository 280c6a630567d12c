# DT1110 exp_avg at: opt.load_state_dict(saved
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import copy
torch.manual_seed(0)
data = torch.randn(16, 4)
x = data.chunk(world)[rank]
def train(net, opt, steps):
    for step in range(steps):
        opt.zero_grad()
        F.mse_loss(net(x), x.roll(1, 1)).backward()
        for p in net.parameters():
            dist.all_reduce(p.grad); p.grad /= world
        opt.step()
net = nn.Linear(4, 4)
opt = torch.optim.AdamW(net.parameters(), lr=0.05)
train(net, opt, 4)
saved = {"net": copy.deepcopy(net.state_dict()), "opt": copy.deepcopy(opt.state_dict())}
net = nn.Linear(4, 4)
opt = torch.optim.AdamW(net.parameters(), lr=0.05)
net.load_state_dict(saved["net"])
opt.load_state_dict(saved["opt"])
opt = torch.optim.AdamW(net.parameters(), lr=0.05) # wrong
#right
train(net, opt, 3)
print("result %.5f" % net.weight.detach().pow(2).sum().item())
dist.destroy_process_group()
