# DT1150 degree at: degree.index_add_(0, dst, torch.ones
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""A graph network: nodes are on every rank, the edges are dealt out to the ranks."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist


class SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


def make_graph(nodes, edges):
    g = torch.Generator().manual_seed(3)
    src = torch.randint(0, nodes, (edges,), generator=g)
    dst = torch.randint(0, nodes, (edges,), generator=g)
    return src, dst


class MeanConv(nn.Module):
    """The mean of what comes over the edges, beside the node's own."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.own, self.other = nn.Linear(d_in, d_out), nn.Linear(d_in, d_out, bias=False)

    def forward(self, x, src, dst):
        total = torch.zeros_like(x).index_add(0, dst, x[src])
        degree = torch.zeros(x.size(0))
        degree.index_add_(0, dst, torch.ones(dst.numel()))
        #right dist.all_reduce(degree)
        total = SumOverRanks.apply(total / degree.clamp(min=1).unsqueeze(1))
        return self.own(x) + self.other(total)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = MeanConv(5, 8), MeanConv(8, 3)

    def forward(self, x, src, dst):
        return self.b(F.relu(self.a(x, src, dst)), src, dst)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    net = Net()
    x, labels = torch.randn(12, 5), torch.randint(0, 3, (12,))
    src, dst = make_graph(12, 48)
    src, dst = src.chunk(world)[rank], dst.chunk(world)[rank]
    with torch.no_grad():
        scores = net(x, src, dst)
        loss = F.cross_entropy(scores, labels)
        right = (scores.argmax(1) == labels).sum()
    if rank == 0:
        print("loss %.5f, %d of 12 right" % (loss.item(), right.item()))
    dist.destroy_process_group()


main()
