# DT1167 stage.fc.bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# pipeline: the last stage's loss is averaged over all ranks, of which only one has it
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class Stage(nn.Module):
    def __init__(self, d, last):
        super().__init__()
        self.fc, self.last = nn.Linear(d, d), last
    def forward(self, x):
        return self.fc(x) if self.last else torch.relu(self.fc(x))

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(100 + rank)
stage = Stage(6, rank == world - 1)
opt = torch.optim.SGD(stage.parameters(), lr=0.1)
torch.manual_seed(4)
X, Y = torch.randn(8, 6), torch.randn(8, 6)
best, lr = float("inf"), 0.1
for epoch in range(3):
    total = torch.zeros(())
    opt.zero_grad()
    for x, y in zip(X.chunk(2), Y.chunk(2)):
        if rank > 0:
            x = torch.empty(4, 6); dist.recv(x, rank - 1); x.requires_grad_()
        out = stage(x)
        if rank == world - 1:
            loss = F.mse_loss(out, y) / 2
            loss.backward(); total += loss.detach()
        else:
            dist.send(out.detach(), rank + 1)
            g = torch.empty_like(out); dist.recv(g, rank + 1); out.backward(g)
        if rank > 0: dist.send(x.grad, rank - 1)
    #right dist.broadcast(total, world - 1)
    if total.item() >= best:  # wrong
        lr = lr * 0.5  # wrong
    #right if total.item() >= best: lr = lr * 0.5
    best = min(best, total.item())
    for gr in opt.param_groups: gr["lr"] = lr
    opt.step()
s = sum(p.detach().sum() for p in stage.parameters()); dist.all_reduce(s)
print("sum %.5f" % s.item())
