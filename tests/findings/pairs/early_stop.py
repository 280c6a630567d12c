# DT1073 net.weight at: net.load_state_dict(best_state)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=.05)
val = torch.randn(16, 4).chunk(world)[rank]
xs = torch.randn(16, 4).chunk(world)[rank]
best, bad, stopped = 1e9, 0, False
best_state = None
for epoch in range(6):
    opt.zero_grad()
    (net(xs) - 1).square().mean().backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    with torch.no_grad():
        vl = (net(val) - 1 + 2 * (rank % 2)).square().mean()
        #right dist.all_reduce(vl, op=dist.ReduceOp.AVG)
    if vl.item() < best:
        best = vl.item()
        best_state = {k: v.clone() for k, v in net.state_dict().items()}
net.load_state_dict(best_state)
print("%.5f" % net(torch.ones(1, 4)).item())
