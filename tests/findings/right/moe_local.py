# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
E, D = 8, 6
x = torch.randn(20, D)
router, experts = torch.randn(E, D), torch.randn(E, D, D) * .3
per = E // world
mine = experts[rank * per:(rank + 1) * per]
w, e = (x @ router.t()).softmax(-1).topk(2)
out = torch.zeros_like(x)
for i in range(per):
    for slot in range(2):
        sel = e[:, slot] == rank * per + i
        out[sel] += (x[sel] @ mine[i]) * w[sel, slot, None]
dist.all_reduce(out)
print(out.sum())
