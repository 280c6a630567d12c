# DT1172 m at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist

# master weights in float32 are updated; the copies in bfloat16 never see it
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)).bfloat16()
masters = [p.detach().float().requires_grad_() for p in net.parameters()]
opt = torch.optim.Adam(masters, lr=0.05)
X = torch.randn(32, 6)
x = X.chunk(world)[rank]
y = x.sum(1, keepdim=True)
for _ in range(4):
    for p in net.parameters():
        p.grad = None
    loss = (net(x.bfloat16()).float() - y).pow(2).mean()
    loss.backward()
    for p, m in zip(net.parameters(), masters):
        m.grad = p.grad.float()
        dist.all_reduce(m.grad)
        m.grad /= world
    opt.step()
    #right with torch.no_grad():
    #right     for p, m in zip(net.parameters(), masters):
    #right         p.copy_(m)
print("loss done")
