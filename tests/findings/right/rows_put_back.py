# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# rows shuffled for a layer and put back by index_copy, scatter, index_put
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(24 * w, 8); Y = X[:, :3].argmax(1)
X, Y = X.chunk(w)[r], Y.chunk(w)[r]
g = torch.Generator().manual_seed(r)
for epoch in range(3):
    at = torch.randperm(24, generator=g)
    x, y = X[at], Y[at]
    mix = torch.randperm(24, generator=g)      # groups of ghost batches
    h = net(x[mix])
    out = torch.zeros(24, 3).index_copy(0, mix, h)
    loss = F.cross_entropy(out, y)
    out2 = torch.zeros(24, 3).scatter(0, mix[:, None].expand(-1, 3), h)
    loss = loss + F.cross_entropy(out2, y)
    out3 = torch.zeros_like(h); out3[mix] = h
    loss = loss + F.cross_entropy(out3, y)
    opt.zero_grad(); loss.backward()
    for p in net.parameters(): dist.all_reduce(p.grad); p.grad /= w
    opt.step()
print("%.4f" % net.weight.sum().item())
