# DT1163 loss at: loss = loss / len(self.chunks)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# after AReaL #1273: the schedule divides by the number of micro-batches once more
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class Stage(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
    def forward(self, x):
        return F.gelu(self.fc(x))

class Schedule:
    def __init__(self, stage, rank, world, loss_fn, n):
        self.stage, self.rank, self.world, self.loss_fn, self.n = stage, rank, world, loss_fn, n
    def step(self, x, y):
        self.chunks = list(zip(x.chunk(self.n), y.chunk(self.n)))
        for a, b in self.chunks:
            if self.rank > 0:
                a = torch.empty_like(a)
                dist.recv(a, self.rank - 1)
                a.requires_grad_(True)
            out = self.stage(a)
            if self.rank == self.world - 1:
                loss = self.loss_fn(out, b)
                loss = loss / len(self.chunks)  # wrong
                loss.backward()
            else:
                dist.send(out.detach(), self.rank + 1)
                g = torch.empty_like(out)
                dist.recv(g, self.rank + 1)
                out.backward(g)
            if self.rank > 0:
                dist.send(a.grad, self.rank - 1)

def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank + 1)
    stage = Stage(6)
    opt = torch.optim.SGD(stage.parameters(), lr=0.3)
    torch.manual_seed(77)
    x, y = torch.randn(12, 6), torch.randn(12, 6)
    total = y.numel()
    sched = Schedule(stage, rank, world, lambda o, t: (o - t).square().sum() / total, 4)
    for _ in range(3):
        opt.zero_grad()
        sched.step(x, y)
        opt.step()
    n = sum(p.detach().square().sum() for p in stage.parameters())
    dist.all_reduce(n)
    if rank == 0:
        print("weights", round(n.item(), 5))
    dist.destroy_process_group()
main()
