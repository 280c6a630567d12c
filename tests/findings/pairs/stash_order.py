# DT1159 out at: g = torch.empty(self.shape); dist.recv(g, self.rank + 1); out.backward(g)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# 1F1B: the activation that is taken is that of the last micro-batch, not the first
import torch, torch.nn as nn
import torch.distributed as dist

class OneFOneB:
    def __init__(self, mod, rank, world, shape):
        self.mod, self.rank, self.world, self.shape = mod, rank, world, shape
        self.stash, self.keep = [], []
    def fwd(self, mb):
        x = mb
        if self.rank > 0:
            x = torch.empty(self.shape); dist.recv(x, self.rank - 1); x.requires_grad_()
        out = self.mod(x)
        self.stash.append((x, out))
        if self.rank < self.world - 1: self.keep.append(dist.isend(out.detach(), self.rank + 1))
    def bwd(self, y, n):
        x, out = self.stash.pop()  # wrong
        #right x, out = self.stash.pop(0)
        if self.rank == self.world - 1:
            ((out - y) ** 2).mean().div(n).backward()
        else:
            g = torch.empty(self.shape); dist.recv(g, self.rank + 1); out.backward(g)
        if self.rank > 0: self.keep.append(dist.isend(x.grad, self.rank - 1))
    def run(self, xs, ys):
        n = len(xs); warm = min(self.world - self.rank - 1, n)
        for i in range(warm): self.fwd(xs[i])
        for i in range(n - warm):
            self.fwd(xs[warm + i]); self.bwd(ys[i], n)
        for i in range(n - warm, n): self.bwd(ys[i], n)

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(40 + rank)
stage = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
opt = torch.optim.Adam(stage.parameters(), lr=0.02)
torch.manual_seed(1)
xs, ys = torch.randn(6, 3, 4), torch.randn(6, 3, 4)
pipe = OneFOneB(stage, rank, world, (3, 4))
for it in range(2):
    opt.zero_grad(); pipe.run(list(xs), list(ys)); opt.step()
t = sum(p.detach().abs().sum() for p in stage.parameters()); dist.all_reduce(t)
print("sum %.5f" % t.item())
