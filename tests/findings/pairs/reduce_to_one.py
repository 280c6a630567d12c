# DT1047 net.b.bias at: opt.step()
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

opt = torch.optim.Adam(net.parameters(), lr=0.05)
X, Y = torch.randn(32, 6).chunk(world)[rank], torch.randn(32, 2).chunk(world)[rank]
def average_gradients(model):
    for p in model.parameters():
        dist.reduce(p.grad, 0)  # wrong
        #right dist.all_reduce(p.grad)
        p.grad /= world
for x, y in zip(X.chunk(2), Y.chunk(2)):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    average_gradients(net)
    opt.step()

s = sum(p.detach().square().sum() for p in net.parameters())
dist.all_reduce(s, op=dist.ReduceOp.AVG)
print("result %.5f" % s.item())
