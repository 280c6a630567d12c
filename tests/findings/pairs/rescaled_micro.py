# DT1164 model[2].bias at: p.grad /= world
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# after torchtitan #1733: what has been accumulated is scaled again with each micro-batch
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class Accumulator:
    def __init__(self, model, opt, every, world):
        self.model, self.opt, self.every, self.world = model, opt, every, world
    def step(self, xs, ys):
        world = self.world
        self.opt.zero_grad()
        for i in range(self.every):
            loss = F.mse_loss(self.model(xs[i]), ys[i]) / self.every
            loss.backward()
            for p in self.model.parameters():  # wrong
                p.grad /= world  # wrong
        for p in self.model.parameters():
            #right p.grad /= world
            dist.all_reduce(p.grad)
        self.opt.step()

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(26)
model = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 2))
acc = Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.2), 3, world)
X, Y = torch.randn(24, 4), torch.randn(24, 2)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
for _ in range(3):
    acc.step(x.chunk(3), y.chunk(3))
with torch.no_grad():
    print("loss %.5f" % F.mse_loss(model(X), Y).item())
