# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# A meter keeps each rank's own sums in buffers; they meet when somebody asks.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist

class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))
        self.register_buffer("count", torch.zeros(()))
    def update(self, v):
        self.total += v.sum(); self.count += v.numel()
    def stacked(self):
        both = torch.stack([self.total, self.count])
        dist.all_reduce(both)
        return (both[0] / both[1]).item()
    def exact(self):
        total, count = self.total.double(), self.count.double()
        dist.all_reduce(total); dist.all_reduce(count)
        return (total / count).item()
    def gathered(self):
        parts = [torch.empty(()) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, self.total / self.count)
        return torch.stack(parts).mean().item()

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
m, meters = nn.Linear(4, 2), [Mean(), Mean(), Mean()]
opt = torch.optim.SGD(m.parameters(), lr=0.1)
X, Y = torch.randn(24, 4), torch.randn(24, 2)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
for it in range(3):
    opt.zero_grad()
    loss = F.mse_loss(m(x), y, reduction="none")
    for meter in meters: meter.update(loss.detach())
    loss.mean().backward()
    for p in m.parameters(): dist.all_reduce(p.grad); p.grad /= world
    opt.step()
a, b, c = meters
print("%.5f %.5f %.5f" % (a.stacked(), b.exact(), c.gathered()))
