# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each sample's gradient is clipped by itself, then added up.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
m = nn.Linear(4, 2)
X, Y = torch.randn(24, 4), torch.randn(24, 2)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for it in range(2):
    acc = [torch.zeros_like(p) for p in m.parameters()]
    for a, b in zip(x, y):
        m.zero_grad()
        F.mse_loss(m(a), b).backward()
        n = torch.sqrt(sum(p.grad.pow(2).sum() for p in m.parameters()))
        for s, p in zip(acc, m.parameters()):
            p.grad.mul_(torch.clamp(0.5 / n, max=1.0)); s.add_(p.grad)
    for s, p in zip(acc, m.parameters()):
        dist.all_reduce(s); p.grad = s / 24
    opt.step()
print("loss %.5f" % F.mse_loss(m(X), Y).item())
