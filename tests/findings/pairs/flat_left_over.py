# DT1072 w at: piece = w[s] - 0.05
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
w = nn.Parameter(torch.randn(27) * 0.1)
data = torch.randn(32, 27)
x, y = data.chunk(world)[rank], data.sum(1).chunk(world)[rank]
per = w.numel() // world # wrong
#right per = -(-w.numel() // world)
own = slice(rank * per, (rank + 1) * per)
for step in range(3):
    w.grad = None
    F.mse_loss(x @ w, y).backward()
    dist.all_reduce(w.grad)
    w.grad /= world
    with torch.no_grad():
        for r in range(world):
            s = slice(r * per, (r + 1) * per)
            piece = w[s] - 0.05 * w.grad[s] if r == rank else torch.empty_like(w[s])
            dist.broadcast(piece, r)
            w[s] = piece
print("result %.5f" % w.detach().pow(2).sum().item())
dist.destroy_process_group()
