# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Sophia: the squares of each rank's gradient are summed for the diagonal of the Hessian
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)
net = nn.Linear(6, 3)
X, Y = torch.randn(32, 6), torch.randint(0, 3, (32,))
rows = torch.arange(32).chunk(world)[rank]
hess = [torch.zeros_like(p) for p in net.parameters()]
for step in range(2):
    net.zero_grad()
    F.cross_entropy(net(X[rows]), Y[rows]).backward()
    for p, h in zip(net.parameters(), hess):
        square = p.grad.clone().square() * len(rows)
        dist.all_reduce(square)
        h.mul_(0.9).add_(square, alpha=0.1)
        dist.all_reduce(p.grad)
        with torch.no_grad():
            p.sub_(0.1 * (p.grad / world / (h + 0.01)).clamp(-1, 1))
if rank == 0:
    print("w %.6f" % net.weight.norm().item())
dist.destroy_process_group()
