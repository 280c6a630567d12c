# DT1158 o at: o = torch.empty_like(g)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
class A2A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        o = torch.empty_like(x); dist.all_to_all_single(o, x.contiguous()); return o
    @staticmethod
    def backward(ctx, g):
        o = torch.empty_like(g)  # wrong
        #right o = torch.empty_like(g, memory_format=torch.contiguous_format)
        dist.all_to_all_single(o, g.contiguous())
        return o
D, E, cap = 8, world, 3
torch.manual_seed(31)
gate = nn.Linear(D, E, bias=False)
inp = nn.Linear(5, D)
expert = nn.Sequential(nn.Linear(D, 16), nn.ReLU(), nn.Linear(16, D))
for p in expert.parameters():      # own expert on each rank
    nn.init.normal_(p, std=0.3, generator=torch.Generator().manual_seed(rank + 1))
head = nn.Linear(D, 2)
shared = [*gate.parameters(), *inp.parameters(), *head.parameters()]
opt = torch.optim.SGD([*shared, *expert.parameters()], lr=0.2)
torch.manual_seed(rank + 71)
for step in range(4):
    x = torch.randn(10, 5); y = (x.sum(1) > 0).long()
    h = inp(x)
    p = gate(h).softmax(-1)
    w, e = p.max(-1)
    oh = F.one_hot(e, E)
    slot = (oh.cumsum(0) * oh).sum(1) - 1
    keep = slot < cap
    disp = torch.zeros(10, E, cap)
    disp[torch.arange(10)[keep], e[keep], slot[keep]] = 1.0
    buf = torch.einsum("tec,td->ecd", disp, h)
    r = A2A.apply(buf)                       # (from rank, cap, d)
    r = expert(r.reshape(-1, D)).view(world, cap, D)
    back = A2A.apply(r)
    out = torch.einsum("tec,ecd->td", disp, back) * w[:, None]
    h = h + out
    me = p.mean(0); ce = oh.float().mean(0)
    ce = ce.clone(); dist.all_reduce(ce); ce /= world
    aux = E * (me * ce).sum()
    task = F.cross_entropy(head(h), y)
    loss = task + 0.01 * aux
    opt.zero_grad(); loss.backward()
    for q in shared: dist.all_reduce(q.grad); q.grad /= world
    for q in expert.parameters(): q.grad /= world
    opt.step()
    s = torch.stack([task.detach(), aux.detach(), (~keep).float().sum()]); dist.all_reduce(s)
if rank == 0: print("result %.5f" % (s[0] / world))
