# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
class GatherSeq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        o = [torch.empty_like(x) for _ in range(world)]; dist.all_gather(o, x.contiguous()); return torch.cat(o, 1)
    @staticmethod
    def backward(ctx, g):
        parts = [c.contiguous() for c in g.chunk(world, 1)]
        out = torch.empty_like(parts[0]); dist.reduce_scatter(out, parts); return out
class Blk(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln = nn.LayerNorm(d); self.qkv = nn.Linear(d, 3 * d); self.o = nn.Linear(d, d); self.ff = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
    def forward(self, x, pos, T):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln(x)).chunk(3, -1)
        k, v = GatherSeq.apply(k), GatherSeq.apply(v)
        q, k, v = [a.view(b, -1, 2, d // 2).transpose(1, 2) for a in (q, k, v)]
        mask = torch.arange(T)[None, :] <= pos[:, None]
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(x)
torch.manual_seed(9)
V, D, T = 20, 8, 16
emb, pe, blocks, head = nn.Embedding(V, D), nn.Embedding(T, D), nn.ModuleList(Blk(D) for _ in range(2)), nn.Linear(D, V)
ps = [p for m in (emb, pe, blocks, head) for p in m.parameters()]
opt = torch.optim.Adam(ps, lr=1e-2)
g = torch.Generator().manual_seed(2)
for step in range(3):
    tok = torch.randint(0, V, (2, T + 1), generator=g)
    tok[0, -4:] = 0
    n = T // world; sl = slice(rank * n, rank * n + n)
    inp, tgt = tok[:, :-1][:, sl], tok[:, 1:][:, sl]
    pos = torch.arange(T)[sl]
    x = emb(inp) + pe(pos)
    for b in blocks: x = b(x, pos, T)
    s = F.cross_entropy(head(x).flatten(0, 1), tgt.flatten(), ignore_index=0, reduction="sum")
    cnt = (tgt != 0).sum(); dist.all_reduce(cnt)
    loss = s / cnt
    opt.zero_grad(); loss.backward()
    for p in ps: dist.all_reduce(p.grad)
    opt.step()
    l = loss.detach().clone(); dist.all_reduce(l)
    if rank == 0: print(step, "%.5f" % l.item())
