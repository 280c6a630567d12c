# DT1043 aten.linalg_vector_norm.default at: g = g / (g.norm() + 1e-7)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D, H = 8, 8
w = nn.Parameter(torch.randn(H, D).chunk(world, 0)[rank].clone())
x, y = torch.randn(10, D), torch.randn(10, H).chunk(world, 1)[rank]
def newton_schulz(g):
    g = g / (g.norm() + 1e-7)
    for _ in range(5):
        a = g @ g.t()
        g = 3.4445 * g + (-4.7750 * a + 2.0315 * a @ a) @ g
    return g
for step in range(3):
    w.grad = None
    (F.linear(x, w) - y).pow(2).mean().backward()
    with torch.no_grad():
        update = newton_schulz(w.grad) # wrong
        #right parts = [torch.empty_like(w.grad) for _ in range(world)]; dist.all_gather(parts, w.grad); update = newton_schulz(torch.cat(parts)).chunk(world, 0)[rank]
        w.sub_(update, alpha=0.1)
s = w.detach().pow(2).sum()
dist.all_reduce(s)
print("result %.5f" % s.item())
dist.destroy_process_group()
