# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# the first rank averages the gradients, by messages or a gather, and sends them to all
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(4, 2)
X, Y = torch.randn(8, 4), torch.randn(8, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
for kind in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    for p in net.parameters():
        if kind == 2:
            parts = [torch.empty_like(p.grad) for _ in range(world)] if rank == 0 else None
            dist.gather(p.grad, parts, 0)
            if rank == 0:
                p.grad.copy_(torch.stack(parts).mean(0))
        elif rank > 0:
            dist.send(p.grad, 0)
        else:
            for r in range(1, world):
                g = torch.empty_like(p.grad)
                dist.recv(g, r)
                p.grad += g
            p.grad /= world
        dist.broadcast(p.grad, 0)
    opt.step()
print("w %.5f" % net.weight.norm().item())
dist.destroy_process_group()
