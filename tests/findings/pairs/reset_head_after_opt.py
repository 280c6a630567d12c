# DT1025 model.head.bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""Continual learning: a fresh head for each task, the trunk is kept."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist


class MultiTask(nn.Module):
    def __init__(self, d=10, h=20):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d, h), nn.Tanh())
        self.head = nn.Linear(h, 2)

    def reset_head(self, classes):
        self.head = nn.Linear(self.trunk[0].out_features, classes)

    def forward(self, x):
        return self.head(self.trunk(x))


def batches(task, rank, world, n=3):
    g = torch.Generator().manual_seed(task)
    for _ in range(n):
        x = torch.randn(4 * world, 10, generator=g)
        y = (x[:, task] > 0).long()
        yield x[rank::world], y[rank::world]


def train(model, opt, task, rank, world):
    for x, y in batches(task, rank, world):
        loss = F.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
    return mean.item() / world


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = MultiTask()
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    for task in range(2):
        if task > 0:
            model.reset_head(2)
            #right opt = torch.optim.SGD(model.parameters(), lr=0.5)
        loss = train(model, opt, task, rank, world)
        if rank == 0:
            print("task %d loss %.5f" % (task, loss))


main()
