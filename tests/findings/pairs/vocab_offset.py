# DT1150 inside at: inside = (ids >= self.lo) & (ids <= self.hi)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# vocabulary parallel embedding: the last id of a part is also looked up by the rank before
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g):
        return g

class VocabEmb(nn.Module):
    def __init__(self, table, rank, world):
        super().__init__()
        self.n = table.size(0) // world
        self.lo = rank * self.n
        self.hi = self.lo + self.n
        self.w = nn.Parameter(table[self.lo:self.hi].clone())
    def forward(self, ids):
        inside = (ids >= self.lo) & (ids <= self.hi)  # wrong
        #right inside = (ids >= self.lo) & (ids < self.hi)
        at = (ids - self.lo).clamp(0, self.n - 1)
        e = F.embedding(at, self.w) * inside.unsqueeze(-1)
        return Sum.apply(e)

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(4)
emb = VocabEmb(torch.randn(24, 5), rank, world)
head = nn.Linear(5, 24)
opt = torch.optim.SGD([*emb.parameters(), *head.parameters()], lr=0.2)
ids = torch.randint(24, (4, 8))
for _ in range(3):
    loss = F.cross_entropy(head(emb(ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
print("loss %.5f" % loss.item())
