# DT1060 model[2].weight at: p.copy_(s - by * p.grad)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""Gradient descent with a backtracking line search; the rows are dealt out."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist


def mean_over_ranks(t):
    t = t.detach().clone()
    dist.all_reduce(t)
    return t / dist.get_world_size()


class Backtracking:
    def __init__(self, model, closure, lr=4.0, shrink=0.5, c=1e-4):
        self.model, self.loss = model, closure
        self.lr, self.shrink, self.c = lr, shrink, c

    def gradient(self):
        self.model.zero_grad()
        loss = self.loss()
        loss.backward()
        for p in self.model.parameters():
            p.grad = mean_over_ranks(p.grad)
        return mean_over_ranks(loss)

    @torch.no_grad()
    def move(self, start, by):
        for p, s in zip(self.model.parameters(), start):
            p.copy_(s - by * p.grad)

    def step(self):
        before = self.gradient()
        start = [p.detach().clone() for p in self.model.parameters()]
        slope = sum(p.grad.square().sum() for p in self.model.parameters())
        by = self.lr
        for _ in range(12):
            self.move(start, by)
            with torch.no_grad():
                trial = self.loss()  # wrong
                #right trial = mean_over_ranks(self.loss())
            if trial <= before - self.c * by * slope:
                break
            by *= self.shrink
        return before


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    x = torch.randn(24, 4) * torch.linspace(0.2, 3, 24).unsqueeze(1)
    y = x[:, :2].sum(1, keepdim=True).sin()
    mine, target = x.chunk(world)[rank], y.chunk(world)[rank]
    search = Backtracking(model, lambda: F.mse_loss(model(mine), target))
    for step in range(4):
        loss = search.step()
        if rank == 0:
            print("%d %.5f" % (step, loss.item()))
    with torch.no_grad():
        final = mean_over_ranks(F.mse_loss(model(mine), target))
    if rank == 0:
        print("final %.5f" % final.item())
    dist.destroy_process_group()


main()
