# DT1062 order at: order = torch.randperm
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist


class Loader:
    def __init__(self, x, y, batch, rank, world):
        self.x, self.y, self.batch, self.rank, self.world = x, y, batch, rank, world
        self.gen = torch.Generator().manual_seed(1234)
        self.noise = self.gen  # wrong
        #right self.noise = torch.Generator().manual_seed(99 + rank)

    def epoch(self):
        order = torch.randperm(len(self.x), generator=self.gen)
        mine = order[self.rank::self.world]
        for b in mine.split(self.batch):
            x = self.x[b]
            while torch.rand((), generator=self.noise) < 0.3 + 0.15 * self.rank:
                x = x + 0.01 * torch.randn(x.shape, generator=self.noise)
            yield x, self.y[b]


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Linear(3, 1)
X = torch.randn(32, 3)
data = Loader(X, X.sum(1, keepdim=True), 4, rank, world)
for ep in range(3):
    for x, y in data.epoch():
        loss = nn.functional.mse_loss(model(x), y)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                dist.all_reduce(p.grad)
                p -= 0.05 * p.grad / world
t = loss.detach().clone()
dist.all_reduce(t)
if rank == 0:
    print("loss %.5f" % (t.item() / world))
