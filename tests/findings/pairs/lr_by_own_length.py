# DT1073 net.b.bias at: opt.step()
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

lens = [12, 12, 8, 4]
mine = torch.randn(sum(lens), 6)[sum(lens[:rank]):][:lens[rank]]
opt = torch.optim.SGD(net.parameters(), lr=0.4)
total = len(mine) // 4  # wrong
#right total = max(lens) // 4
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: max(0.0, 1 - i / (total + 1)))
for i in range(3):
    x = mine[(i * 4) % len(mine):][:4]
    opt.zero_grad()
    net(x).square().mean().backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    sched.step()

s = sum(p.detach().square().sum() for p in net.parameters())
dist.all_reduce(s, op=dist.ReduceOp.AVG)
print("result %.5f" % s.item())
