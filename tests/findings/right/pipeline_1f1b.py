# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""A pipeline of four stages, one forward and one backward in turn; the table of words
is on the first and the last stage, its gradients are summed over these two."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

V, D, B, T, MICROS = 14, 8, 8, 5, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(D)
        self.up, self.down = nn.Linear(D, 2 * D), nn.Linear(2 * D, D)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Stage(nn.Module):
    def __init__(self, rank, world, table, blocks):
        super().__init__()
        self.first, self.last = rank == 0, rank == world - 1
        if self.first or self.last:
            self.table = nn.Parameter(table.clone())
        if self.last:
            self.norm = nn.LayerNorm(D)
        self.block = blocks[rank]

    def forward(self, x):
        h = F.embedding(x, self.table) if self.first else x
        h = self.block(h)
        return F.linear(self.norm(h), self.table) if self.last else h


class Schedule:
    def __init__(self, stage, rank, world, shape):
        self.stage, self.rank, self.world, self.shape = stage, rank, world, shape
        self.kept, self.losses, self.sent = [], [], []

    def forward(self, ids, labels):
        if self.stage.first:
            x = ids
        else:
            x = torch.empty(self.shape)
            dist.recv(x, self.rank - 1)
            x.requires_grad_(True)
        y = self.stage(x)
        if self.stage.last:
            y = F.cross_entropy(y.flatten(0, 1), labels.flatten()) / MICROS
            self.losses.append(y.detach())
        else:
            self.sent.append(dist.isend(y.detach(), self.rank + 1))
        self.kept.append((x, y))

    def backward(self):
        x, y = self.kept.pop(0)
        if self.stage.last:
            y.backward()
        else:
            g = torch.empty(self.shape)
            dist.recv(g, self.rank + 1)
            y.backward(g)
        if not self.stage.first:
            self.sent.append(dist.isend(x.grad, self.rank - 1))

    def run(self, ids, labels):
        ids, labels = ids.chunk(MICROS), labels.chunk(MICROS)
        self.losses = []
        ahead = min(self.world - 1 - self.rank, MICROS)
        for m in range(ahead):
            self.forward(ids[m], labels[m])
        for m in range(ahead, MICROS):
            self.forward(ids[m], labels[m])
            self.backward()
        for _ in range(ahead):
            self.backward()
        for work in self.sent:
            work.wait()
        self.sent.clear()
        loss = torch.stack(self.losses).sum() if self.losses else torch.zeros(())
        dist.broadcast(loss, self.world - 1)
        return loss


def norm_of(stage, counts_table):
    total = torch.zeros(())
    for n, p in stage.named_parameters():
        if n != "table" or counts_table:
            total += p.grad.square().sum()
    dist.all_reduce(total)
    return total.sqrt()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(31)
    blocks = [Block() for _ in range(4)]
    stage = Stage(rank, world, torch.randn(V, D), blocks)
    ends = dist.new_group([0, world - 1])
    opt = torch.optim.SGD(stage.parameters(), lr=0.3, momentum=0.5)
    schedule = Schedule(stage, rank, world, (B // MICROS, T, D))
    for step in range(4):
        g = torch.Generator().manual_seed(step)
        text = torch.randint(0, V, (B, T + 1), generator=g)
        opt.zero_grad()
        loss = schedule.run(text[:, :-1], text[:, 1:])
        if stage.first or stage.last:
            dist.all_reduce(stage.table.grad, group=ends)
        norm = norm_of(stage, stage.first)
        for p in stage.parameters():
            p.grad.mul_((1.0 / (norm + 1e-6)).clamp(max=1.0))
        opt.step()
        if rank == world - 1:
            print("%d loss %.5f norm %.5f" % (step, loss.item(), norm.item()))
    dist.destroy_process_group()


main()
