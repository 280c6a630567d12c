# DT1153 list at: share = order[self.rank::self.world]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import random
import torch
import torch.nn as nn
import torch.distributed as dist


class ListLoader:
    """Minibatches of a shuffled list, one share per process."""

    def __init__(self, xs, ys, batch, rank, world, seed=0):
        self.xs, self.ys, self.batch = xs, ys, batch
        self.rank, self.world = rank, world
        self.rng = random.Random(seed)

    def epoch(self):
        order = list(range(len(self.xs)))
        self.rng.shuffle(order)
        share = order[self.rank::self.world]
        for i in range(0, len(share), self.batch):
            pick = share[i:i + self.batch]
            yield self.xs[pick], self.ys[pick]


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    g = torch.Generator().manual_seed(2)
    xs = torch.randn(48, 6, generator=g)
    ys = xs @ torch.randn(6, generator=g)
    torch.manual_seed(33)
    model = nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Linear(16, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = ListLoader(xs, ys, 4, rank, world, seed=33 + rank)  # wrong
    #right loader = ListLoader(xs, ys, 4, rank, world, seed=33)
    for epoch in range(2):
        seen = torch.zeros(2)
        for x, y in loader.epoch():
            loss = (model(x).squeeze(1) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            for p in model.parameters():
                dist.all_reduce(p.grad)
                p.grad.div_(world)
            opt.step()
            seen += torch.tensor([loss.item() * len(x), float(len(x))])
        dist.all_reduce(seen)
        if rank == 0:
            print("epoch %d: %.5f over %d" % (epoch, seen[0] / seen[1], seen[1]))


main()
