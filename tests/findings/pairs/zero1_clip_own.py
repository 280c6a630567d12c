# DT1064 model[4].weight at: p.grad.mul_(scale)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""ZeRO stage 1: every rank owns some parameters and their optimizer state."""
import torch
import torch.nn as nn
import torch.distributed as dist

MAX_NORM = 0.3


class ShardedAdam:
    def __init__(self, params, lr):
        self.params = list(params)
        self.world, self.rank = dist.get_world_size(), dist.get_rank()
        self.owner = {i: i % self.world for i in range(len(self.params))}
        mine = [p for i, p in enumerate(self.params) if self.owner[i] == self.rank]
        self.mine = mine
        self.inner = torch.optim.Adam(mine, lr=lr)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def reduce(self):
        for i, p in enumerate(self.params):
            dist.all_reduce(p.grad)
            p.grad /= self.world

    def clip(self):
        sq = sum(p.grad.pow(2).sum() for p in self.mine)
        #right dist.all_reduce(sq)
        scale = torch.clamp(MAX_NORM / (sq.sqrt() + 1e-6), max=1.0)
        for p in self.mine:
            p.grad.mul_(scale)

    def step(self):
        self.reduce()
        self.clip()
        self.inner.step()
        for i, p in enumerate(self.params):
            dist.broadcast(p.data, src=self.owner[i])


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(8, 20), nn.GELU(), nn.Linear(20, 20), nn.GELU(), nn.Linear(20, 1))
    opt = ShardedAdam(model.parameters(), lr=0.02)
    for it in range(3):
        torch.manual_seed(1000 * it + dist.get_rank())
        x = torch.randn(16, 8)
        loss = (model(x).squeeze(1) - x.norm(dim=1)).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    probe = torch.ones(1, 8)
    if dist.get_rank() == 0:
        print("answer %.6f" % model(probe).item())


main()
