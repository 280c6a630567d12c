# DT1110 weight at: ema2.load_state_dict
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import copy
torch.manual_seed(0)
net = nn.Linear(4, 4)
ema = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
data = torch.randn(16, 4)
def train(net, ema, opt, steps):
    for step in range(steps):
        opt.zero_grad()
        F.mse_loss(net(data.chunk(world)[rank]), data.chunk(world)[rank].roll(1, 1)).backward()
        for p in net.parameters():
            dist.all_reduce(p.grad); p.grad /= world
        opt.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), net.parameters()): e.lerp_(p, 0.05)
train(net, ema, opt, 4)
saved = {"net": copy.deepcopy(net.state_dict()), "ema": copy.deepcopy(ema.state_dict())}
net2, ema2 = nn.Linear(4, 4), nn.Linear(4, 4)
net2.load_state_dict(saved["net"])
ema2.load_state_dict(saved["ema"])
ema2 = copy.deepcopy(net2) # wrong
#right
train(net2, ema2, torch.optim.SGD(net2.parameters(), lr=0.2), 2)
print("result %.5f" % ema2.weight.detach().pow(2).sum().item())
dist.destroy_process_group()
