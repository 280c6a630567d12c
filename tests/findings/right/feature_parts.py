# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# random features in parts: each rank has some, the sum of all is the model's
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
torch.manual_seed(100 + r)
class Feats(nn.Module):
    def __init__(s):
        super().__init__()
        s.register_buffer("proj", torch.randn(4, 8)); s.w = nn.Parameter(torch.zeros(8, 1)); s.b = nn.Parameter(torch.zeros(1))
class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g): return g
m = Feats(); opt = torch.optim.SGD(m.parameters(), lr=0.1)
g = torch.Generator().manual_seed(5)
for step in range(4):
    x = torch.randn(16, 4, generator=g); y = x.sin().sum(1, keepdim=True)
    out = Sum.apply((x @ m.proj).cos() @ m.w) + m.b
    loss = F.mse_loss(out, y); opt.zero_grad(); loss.backward()
    dist.all_reduce(m.b.grad); m.b.grad /= w
    opt.step()
    if r == 0: print("%.4f" % loss.item())
