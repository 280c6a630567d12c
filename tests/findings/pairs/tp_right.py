# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# a whole tensor parallel transformer block with its loss, all of it right
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.clone(); dist.all_reduce(g); return g
class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g): return g
def col(o, i): return nn.Parameter((torch.randn(o, i) / i ** .5).chunk(world)[rank].clone())
def row(o, i): return nn.Parameter((torch.randn(o, i) / i ** .5).chunk(world, 1)[rank].clone())
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1, self.n2, self.hd = nn.LayerNorm(d), nn.LayerNorm(d), d // h
        self.q, self.k, self.v, self.o = col(d, d), col(d, d), col(d, d), row(d, d)
        self.up, self.gate, self.down = col(4 * d, d), col(4 * d, d), row(d, 4 * d)
    def forward(self, x):
        B, T, D = x.shape
        h = Copy.apply(self.n1(x))
        q, k, v = (F.linear(h, w).view(B, T, -1, self.hd).transpose(1, 2) for w in (self.q, self.k, self.v))
        s = (q @ k.transpose(-1, -2)) / self.hd ** .5
        s = s.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf"))
        y = (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1)
        x = x + F.dropout(Reduce.apply(F.linear(y, self.o)), .1)
        h = Copy.apply(self.n2(x))
        return x + Reduce.apply(F.linear(F.silu(F.linear(h, self.gate)) * F.linear(h, self.up), self.down))
emb, blk = nn.Embedding(16, 16), Block(16, 4)
head = col(16, 16)
ps = [*emb.parameters(), *blk.parameters(), head]
opt = torch.optim.AdamW(ps, lr=1e-2)
ids = torch.randint(0, 16, (2, 6))
for step in range(2):
    opt.zero_grad()
    h = Copy.apply(blk(emb(ids)))
    logits = F.linear(h, head).flatten(0, 1)
    tgt = ids.roll(-1, 1).flatten()
    m = logits.detach().max(-1, keepdim=True).values
    dist.all_reduce(m, op=dist.ReduceOp.MAX)
    e = (logits - m).exp()
    z = Reduce.apply(e.sum(-1))
    lo = rank * 4
    inside = (tgt >= lo) & (tgt < lo + 4)
    t = (logits - m).gather(1, (tgt - lo).clamp(0, 3)[:, None])[:, 0] * inside
    loss = (z.log() - Reduce.apply(t)).mean()
    loss.backward()
    sq = sum(p.grad.square().sum() for p in (blk.q, blk.k, blk.v, blk.o, blk.up, blk.gate, blk.down, head))
    dist.all_reduce(sq)
    sq = sq + sum(p.grad.square().sum() for p in (*emb.parameters(), *blk.n1.parameters(), *blk.n2.parameters()))
    c = (1.0 / (sq.sqrt() + 1e-6)).clamp(max=1)
    for p in ps: p.grad.mul_(c)
    opt.step()
print("%.5f" % loss.item())
