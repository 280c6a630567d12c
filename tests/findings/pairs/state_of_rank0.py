# DT1154 torch.load at: again.buf = torch.load(path_of(box[0], 0))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import os
import tempfile
import torch
import torch.nn as nn
import torch.distributed as dist


class ShardedMomentum:
    """Every rank keeps the momentum of its own slice of the flat parameters."""

    def __init__(self, params, lr, rank, world):
        self.params = list(params)
        self.lr, self.rank, self.world = lr, rank, world
        self.size = sum(p.numel() for p in self.params)
        self.per = (self.size + world - 1) // world
        self.buf = torch.zeros(self.per)

    def flat(self, what):
        v = torch.cat([what(p).reshape(-1) for p in self.params])
        return torch.cat([v, v.new_zeros(self.per * self.world - self.size)])

    def step(self):
        g = self.flat(lambda p: p.grad)
        dist.all_reduce(g)
        g = g / self.world
        sl = slice(self.rank * self.per, (self.rank + 1) * self.per)
        self.buf = 0.9 * self.buf + g[sl]
        mine = self.flat(lambda p: p.data)[sl] - self.lr * self.buf
        parts = [torch.empty(self.per) for _ in range(self.world)]
        dist.all_gather(parts, mine)
        full, at = torch.cat(parts), 0
        for p in self.params:
            p.data.copy_(full[at:at + p.numel()].view_as(p))
            at += p.numel()


def path_of(folder, rank):
    return os.path.join(folder, "optim_%d.pt" % rank)


def fit(model, opt, x, y, steps):
    for _ in range(steps):
        model.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        opt.step()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    net = nn.Linear(6, 4)
    X, Y = torch.randn(16, 6), torch.randn(16, 4)
    x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
    opt = ShardedMomentum(net.parameters(), 0.05, rank, world)
    fit(net, opt, x, y, 4)
    box = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(box, src=0)
    torch.save(opt.buf, path_of(box[0], rank))
    dist.barrier()
    again = ShardedMomentum(net.parameters(), 0.05, rank, world)
    again.buf = torch.load(path_of(box[0], 0))  # wrong
    #right again.buf = torch.load(path_of(box[0], rank))
    fit(net, again, x, y, 3)
    print("rank %d sum %.5f" % (rank, net.weight.detach().abs().sum()))
    dist.destroy_process_group()


main()
