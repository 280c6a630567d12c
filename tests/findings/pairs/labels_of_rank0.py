# DT1035 y at: dist.broadcast(y, 0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Linear(5, 4)
X, Y = torch.randn(24, 5), torch.randint(0, 4, (24,))
def part(t):
    return t.chunk(world)[rank].clone()
x, y = part(X), part(Y)
with torch.no_grad():
    logits = model(x)
    dist.broadcast(y, 0)  # wrong
    hit = F.cross_entropy(logits, y, reduction="sum")
    dist.all_reduce(hit)
print("result %.5f" % (hit / 24).item())
