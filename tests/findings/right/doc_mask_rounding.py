# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The bias of keys has no gradient but rounding, which Adam magnifies; positions are made
# of a count of the part, which is no reason for it.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist

EOS = 0

class GatherTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        out = [torch.empty_like(t) for _ in range(dist.get_world_size())]
        dist.all_gather(out, t.contiguous())
        ctx.n = t.shape[1]
        return torch.cat(out, 1)
    @staticmethod
    def backward(ctx, g):
        g = g.contiguous().clone()
        dist.all_reduce(g)
        r = dist.get_rank()
        return g[:, r * ctx.n:(r + 1) * ctx.n]

def gather_int(t):
    out = [torch.empty_like(t) for _ in range(dist.get_world_size())]
    dist.all_gather(out, t.contiguous())
    return torch.cat(out, 1)

class PackedAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.d = d
    def forward(self, x, seg, seg_all, offset):
        q, k, v = self.qkv(x).chunk(3, -1)
        k, v = GatherTokens.apply(k), GatherTokens.apply(v)
        pos = torch.arange(x.shape[1]) + offset
        causal = pos[:, None] >= torch.arange(k.shape[1])[None]
        same = seg[:, :, None] == seg_all[:, None, :]
        a = (q @ k.transpose(1, 2)) / math.sqrt(self.d)
        return F.softmax(a.masked_fill(~(causal & same), float("-inf")), -1) @ v

class Model(nn.Module):
    def __init__(self, vocab=12, d=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.attn = PackedAttention(d)
        self.head = nn.Linear(d, vocab)
    def forward(self, ids, rank):
        n = ids.shape[1]
        seg_all = torch.cumsum(gather_int(ids) == EOS, 1)
        seg = seg_all[:, rank * n:(rank + 1) * n]
        h = self.emb(ids)
        return self.head(h + self.attn(h, seg, seg_all, rank * n))

def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(25)
    model = Model()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    text = torch.randint(0, 6, (2, 25)) * torch.randint(0, 3, (2, 25)).clamp(max=1)
    ids, target = text[:, :-1].chunk(world, 1)[rank], text[:, 1:].chunk(world, 1)[rank]
    for step in range(4):
        loss = F.cross_entropy(model(ids, rank).flatten(0, 1), target.flatten())
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        l = loss.detach()
        dist.all_reduce(l)
        if rank == 0:
            print("step %d loss %.5f" % (step, l.item() / world))
    dist.destroy_process_group()

main()
