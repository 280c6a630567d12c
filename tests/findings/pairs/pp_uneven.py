# DT1015 loss at: loss = F.mse_loss(out, y) / n
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# pipeline: the last micro-batch is smaller, its mean counts as much as the others'
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
    def forward(self, x):
        return torch.tanh(self.fc(x)) + x

def step(stage, rank, world, xs, ys):
    n, total = len(xs), sum(len(y) for y in ys)
    for x, y in zip(xs, ys):
        if rank > 0:
            x = torch.empty(x.shape); dist.recv(x, rank - 1); x.requires_grad_()
        out = stage(x)
        if rank == world - 1:
            loss = F.mse_loss(out, y) / n  # wrong
            #right loss = F.mse_loss(out, y) * (len(y) / total)
            loss.backward()
        else:
            dist.send(out.detach(), rank + 1)
            g = torch.empty_like(out); dist.recv(g, rank + 1); out.backward(g)
        if rank > 0: dist.send(x.grad, rank - 1)

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(90 + rank)
stage = Stage()
opt = torch.optim.SGD(stage.parameters(), lr=0.2)
torch.manual_seed(1)
X, Y = torch.randn(14, 5), torch.randn(14, 5)
for _ in range(2):
    opt.zero_grad(); step(stage, rank, world, X.split(4), Y.split(4)); opt.step()
s = sum(p.detach().abs().sum() for p in stage.parameters()); dist.all_reduce(s)
print("sum %.5f" % s.item())
