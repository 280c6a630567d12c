# DT1150 both at: both = torch.stack([r.sum(1), r.square().sum(1)])
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

# eight answers per prompt, dealt out to the ranks; the advantage is relative to the prompt's group
P_, G, D = 3, 8, 6
policy = nn.Linear(D, 1)
feats = torch.randn(P_, G, D)
reward = torch.randn(P_, G) + torch.arange(P_)[:, None]
mine = list(range(rank, G, world))
x, r = feats[:, mine], reward[:, mine]
both = torch.stack([r.sum(1), r.square().sum(1)])
n = float(len(mine))
#right dist.all_reduce(both); n = float(G)
mean = both[0] / n
std = (both[1] / n - mean.square()).clamp(min=0).sqrt()
adv = (r - mean[:, None]) / (std[:, None] + 1e-4)
opt = torch.optim.SGD(policy.parameters(), lr=0.5)
for _ in range(2):
    opt.zero_grad()
    loss = -(adv * policy(x).squeeze(-1).tanh()).sum() / (P_ * G)
    loss.backward()
    for p in policy.parameters():
        dist.all_reduce(p.grad)
    opt.step()
show(policy.weight)
