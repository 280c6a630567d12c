# DT1043 aten.embedding.default at: F.embedding(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# an embedding whose vocabulary is cut by hand: every rank takes its own row 0 for the padding
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D, PAD = 16, 8, 0


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        t = t.clone()
        dist.all_reduce(t)
        return t

    @staticmethod
    def backward(ctx, g):
        return g


class VocabEmbedding(nn.Module):
    def __init__(self, full):
        super().__init__()
        self.n = full.size(0) // world
        self.lo = rank * self.n
        self.weight = nn.Parameter(full[self.lo:self.lo + self.n].clone())

    def forward(self, ids):
        outside = (ids < self.lo) | (ids >= self.lo + self.n)
        at = (ids - self.lo).masked_fill(outside, 0)
        e = F.embedding(at, self.weight, padding_idx=PAD)  # wrong
        #right e = F.embedding(at, self.weight, padding_idx=PAD if rank == 0 else None)
        return Reduce.apply(e.masked_fill(outside.unsqueeze(-1), 0.0))


emb = VocabEmbedding(torch.randn(V, D))
head = nn.Linear(D, 1)
opt = torch.optim.SGD([*emb.parameters(), *head.parameters()], lr=0.5)
ids = torch.randint(1, V, (6, 5))
ids[:, 4] = PAD
y = torch.randn(6)
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(head(emb(ids).mean(1)).squeeze(1), y)
    loss.backward()
    opt.step()
if rank == 0:
    print("loss %.6f" % loss.item())
dist.destroy_process_group()
