# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
net = Net()

class Scaler:
    def __init__(self): self.scale = 2.0 ** 4
    def step(self, opt, params):
        bad = torch.tensor(float(any(not p.grad.isfinite().all() for p in params)))
        dist.all_reduce(bad, op=dist.ReduceOp.MAX)
        for p in params:
            p.grad.nan_to_num_(0.0, 0.0, 0.0)
            dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
            p.grad /= self.scale
        if bad.item() > 0:
            self.scale /= 2
            return

        opt.step()
opt = torch.optim.SGD(net.parameters(), lr=0.2)
scaler = Scaler()
X = torch.randn(48, 6).chunk(world)[rank].clone()
for i, x in enumerate(X.chunk(3)):
    if i == 1 and rank == 2: x[0, 0] = float("inf")
    opt.zero_grad()
    (net(x).square().mean() * scaler.scale).backward()
    scaler.step(opt, list(net.parameters()))

s = sum(p.detach().square().sum() for p in net.parameters())
dist.all_reduce(s, op=dist.ReduceOp.AVG)
print("result %.5f" % s.item())
