# DT1150 y at: y = labels.chunk
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


def zigzag(t, rank, world):
    parts = t.chunk(2 * world, dim=1)
    return torch.cat([parts[rank], parts[2 * world - 1 - rank]], dim=1)


class Model(nn.Module):
    def __init__(self, vocab, width, length):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(length, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.out = nn.Linear(width, vocab)

    def forward(self, ids, where):
        h = self.tok(ids) + self.pos(where)
        h = h + self.mlp(h)
        return self.out(h)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(5)
    vocab, length = 24, 16
    model = Model(vocab, 12, length)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(3):
        tokens = torch.randint(0, vocab, (2, length + 1))
        inputs, labels = tokens[:, :-1], tokens[:, 1:]
        where = torch.arange(length).expand(2, -1)
        x, w = zigzag(inputs, rank, world), zigzag(where, rank, world)
        y = labels.chunk(world, dim=1)[rank]  # wrong
        #right y = zigzag(labels, rank, world)
        loss = F.cross_entropy(model(x, w).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        if rank == 0:
            print(f"step {step} loss {shown.item() / world:.5f}")
    dist.destroy_process_group()


main()
