# DT1053 out at: out[sel] = (x[sel] @ mine[i]) * w[sel, None]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# expert parallel: router picks global expert ids, local table is indexed modulo
E, D = 8, 6
x = torch.randn(20, D)
router, experts = torch.randn(E, D), torch.randn(E, D, D) * .3
per = E // world
mine = experts[rank * per:(rank + 1) * per]
gate = (x @ router.t()).softmax(-1)
w, e = gate.max(-1)
out = torch.zeros_like(x)
for i in range(per):
    sel = (e % per == i)  # wrong
    #right sel = (e == rank * per + i)
    out[sel] = (x[sel] @ mine[i]) * w[sel, None]
dist.all_reduce(out)
print("result %.5f" % out.sum().item())
