# DT1081 loss at: loss = F.mse_loss(stage(h), y)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Stage(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
    def forward(self, x):
        return torch.tanh(self.fc(x))

torch.manual_seed(rank)
stage = Stage(6, 6)
opt = torch.optim.SGD(stage.parameters(), lr=0.2)
torch.manual_seed(10)
X, Y = torch.randn(8, 6), torch.randn(8, 6)
M = 4
for step in range(2):
    opt.zero_grad()
    total = 0.0
    for x, y in zip(X.chunk(M), Y.chunk(M)):
        if rank == 0:
            h = stage(x)
            dist.send(h.detach(), 1)
            g = torch.empty_like(h)
            dist.recv(g, 1)
            h.backward(g)
        else:
            h = torch.empty(8 // M, 6)
            dist.recv(h, 0)
            h.requires_grad_(True)
            loss = F.mse_loss(stage(h), y)
            #right loss = loss / M
            loss.backward()  # wrong
            #right loss.backward()
            dist.send(h.grad, 0)
    opt.step()
s = sum(p.detach().square().sum() for p in stage.parameters())
dist.all_reduce(s)
print("result %.5f" % s.item())
