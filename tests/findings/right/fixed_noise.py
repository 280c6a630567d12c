# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# each rank shows samples of its own fixed noise
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Gen(nn.Module):
    def __init__(s):
        super().__init__(); s.f = nn.Linear(4, 6)
        s.register_buffer("show", torch.randn(3, 4, generator=torch.Generator().manual_seed(r)))
    def forward(s, z): return torch.tanh(s.f(z))
G = Gen(); opt = torch.optim.Adam(G.parameters(), lr=0.01)
z = torch.Generator().manual_seed(50 + r)
for step in range(3):
    loss = (G(torch.randn(8, 4, generator=z)) - 0.3).square().mean()
    opt.zero_grad(); loss.backward()
    for p in G.parameters(): dist.all_reduce(p.grad); p.grad /= w
    opt.step()
    with torch.no_grad(): print("rank %d sample %.4f" % (r, G(G.show).mean().item()))
