# DT1150 users at: seen = torch.tensor(float(users.unique().numel()))  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""Reports of an evaluation: loss for each user, and how many users there were."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

USERS = 9


class Scorer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.user = nn.Embedding(USERS, d)
        self.item = nn.Linear(4, d)

    def forward(self, users, items):
        return (self.user(users) * self.item(items)).sum(1)


class Log:
    def __init__(self, n):
        g = torch.Generator().manual_seed(14)
        self.users = torch.randint(0, USERS, (n,), generator=g)
        self.items = torch.randn(n, 4, generator=g)
        self.clicked = torch.randint(0, 2, (n,), generator=g).float()

    def part(self, rank, world):
        return (t.chunk(world)[rank] for t in (self.users, self.items, self.clicked))


def gather(t):
    parts = [torch.empty_like(t) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, t.contiguous())
    return torch.cat(parts)


@torch.no_grad()
def report(model, users, items, clicked):
    nll = F.binary_cross_entropy_with_logits(model(users, items), clicked, reduction="none")
    total = nll.sum()
    seen = torch.tensor(float(users.unique().numel()))  # wrong
    dist.all_reduce(seen)  # wrong
    #right seen = torch.tensor(float(gather(users).unique().numel()))
    dist.all_reduce(total)
    return total / seen, seen


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Scorer(5)
    per_user, seen = report(model, *Log(32).part(rank, world))
    if rank == 0:
        print("loss of a user %.5f, %d users" % (per_user.item(), seen.item()))
    dist.destroy_process_group()


main()
