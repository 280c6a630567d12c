# DT1025 step at: opt.step()
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
        self.a, self.b = nn.Linear(5, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.2)  # wrong
for m in net.modules():
    for n, p in list(m.named_parameters(recurse=False)):
        t = p.detach().clone()
        dist.broadcast(t, 0)
        setattr(m, n, nn.Parameter(t))
#right opt = torch.optim.SGD(net.parameters(), lr=0.2)
X, Y = torch.randn(16, 5).chunk(world)[rank], torch.randn(16, 2).chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(X), Y)
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
t = loss.detach()
dist.all_reduce(t, op=dist.ReduceOp.AVG)
print("result %.5f" % t.item())
