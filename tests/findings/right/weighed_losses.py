# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The gradient of a penalty counts for a tenth beside that of the loss.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
m = nn.Linear(4, 2)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
X, Y = torch.randn(24, 4), torch.randn(24, 2)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
for it in range(2):
    opt.zero_grad()
    out = m(x)
    out.abs().mean().backward(retain_graph=True)
    for p in m.parameters(): p.grad.mul_(0.1)
    F.mse_loss(out, y).backward()
    for p in m.parameters(): dist.all_reduce(p.grad); p.grad /= world
    opt.step()
print("loss %.5f" % F.mse_loss(m(X), Y).item())
