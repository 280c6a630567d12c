# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# CutMix of the whole part: rows of another order are written into
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(24 * w, 8); Y = X[:, :3].argmax(1)
X, Y = X.chunk(w)[r], Y.chunk(w)[r]
g = torch.Generator().manual_seed(r)
for epoch in range(3):
    at = torch.randperm(24, generator=g)
    x, y = X[at], Y[at]
    other = torch.randperm(24, generator=g)
    x[:, :3] = x[other, :3]
    out = net(x)
    loss = 0.6 * F.cross_entropy(out, y) + 0.4 * F.cross_entropy(out, y[other])
    opt.zero_grad(); loss.backward()
    for p in net.parameters(): dist.all_reduce(p.grad); p.grad /= w
    opt.step()
print("%.4f" % net[0].weight.sum().item())
