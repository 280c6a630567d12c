# DT1047 attn.kv at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, H, d = 2, 5, 4, 4
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        g = g.clone(); dist.all_reduce(g); return g
class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g): return g
class MQA(nn.Module):
    """One key and value head, of which every rank has a copy."""
    def __init__(self):
        super().__init__()
        q, o = torch.randn(H * d, H * d) * 0.3, torch.randn(H * d, H * d) * 0.3
        self.q = nn.Parameter(q.chunk(world, 0)[rank].clone())
        self.o = nn.Parameter(o.chunk(world, 1)[rank].clone())
        self.kv = nn.Parameter(torch.randn(2 * d, H * d) * 0.3)
    def forward(self, x):
        x = Copy.apply(x)
        q, (k, v) = F.linear(x, self.q), F.linear(x, self.kv).chunk(2, -1)
        a = (q @ k.transpose(1, 2) / d ** 0.5).softmax(-1) @ v
        return Sum.apply(F.linear(a, self.o))
attn, inp = MQA(), nn.Linear(8, H * d)
opt = torch.optim.SGD([*attn.parameters(), *inp.parameters()], lr=0.5)
x, y = torch.randn(B, T, 8), torch.randn(B, T, H * d)
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(attn(inp(x)), y)
    loss.backward()
    #right dist.all_reduce(attn.kv.grad)
    opt.step()  # wrong
    #right opt.step()
print("result %.5f" % loss.item())
