# DT1176 t at: dist.send(t, partner)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""Gradients are summed by recursive doubling, written with send and recv."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist


class Doubling:
    """Ranks exchange with rank ^ 1, then with rank ^ 2, and add what they get."""

    def __init__(self):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def exchange(self, t, partner):
        got = torch.empty_like(t)
        if self.rank < partner:
            dist.send(t, partner)
            dist.recv(got, partner)
        else:
            dist.recv(got, partner)
            dist.send(t, partner)
        return got

    def all_reduce(self, t):
        step = 1
        while step < self.world:
            t += self.exchange(t, self.rank ^ 1)  # wrong
            #right t += self.exchange(t, self.rank ^ step)
            step *= 2
        return t


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 9), nn.Linear(9, 2)

    def forward(self, x):
        return self.b(torch.sigmoid(self.a(x)))


def flatten(tensors):
    return torch.cat([t.flatten() for t in tensors])


def unflatten(flat, tensors):
    at = 0
    for t in tensors:
        t.copy_(flat[at:at + t.numel()].view_as(t))
        at += t.numel()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(10)
    net, comm = Net(), Doubling()
    opt = torch.optim.SGD(net.parameters(), lr=0.2)
    x, y = torch.randn(32, 5), torch.randn(32, 2)
    mine, target = x.chunk(world)[rank], y.chunk(world)[rank]
    for step in range(3):
        loss = F.mse_loss(net(mine), target)
        opt.zero_grad()
        loss.backward()
        grads = [p.grad for p in net.parameters()]
        flat = comm.all_reduce(flatten(grads)) / world
        unflatten(flat, grads)
        opt.step()
    with torch.no_grad():
        final = F.mse_loss(net(x), y)
    print("rank %d final %.5f" % (rank, final.item()))
    dist.destroy_process_group()


main()
