# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# sequence parallel with a hand-written ulysses exchange, all of it right
B, T, H, D = 2, 16, 4, 16
qkv, out = nn.Linear(D, 3 * D), nn.Linear(D, D)
n1 = nn.LayerNorm(D)
ps = [*qkv.parameters(), *out.parameters(), *n1.parameters()]
opt = torch.optim.SGD(ps, lr=.1)
class A2A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, g):
        ctx.s, ctx.g = s, g
        o = [torch.empty_like(c.contiguous()) for c in x.chunk(world, s)]
        dist.all_to_all(o, [c.contiguous() for c in x.chunk(world, s)])
        return torch.cat(o, g)
    @staticmethod
    def backward(ctx, gr):
        return A2A.forward(ctx.__class__(), gr, ctx.g, ctx.s) if False else back(gr, ctx.g, ctx.s), None, None
def back(x, s, g):
    o = [torch.empty_like(c.contiguous()) for c in x.chunk(world, s)]
    dist.all_to_all(o, [c.contiguous() for c in x.chunk(world, s)])
    return torch.cat(o, g)
x = torch.randn(B, T, D).chunk(world, 1)[rank]
pos = rank * (T // world) + torch.arange(T // world)
pe = torch.randn(T, D)
for _ in range(2):
    opt.zero_grad()
    h = n1(x + pe[pos])
    q, k, v = qkv(h).view(B, -1, 3, H, D // H).permute(2, 0, 3, 1, 4)
    q, k, v = (A2A.apply(t, 1, 2) for t in (q, k, v))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    y = A2A.apply(y, 2, 1).transpose(1, 2).reshape(B, -1, D)
    loss = (x + out(y)).square().mean() / world
    loss.backward()
    for p in ps: dist.all_reduce(p.grad)
    opt.step()
print("%.5f" % loss.item())
