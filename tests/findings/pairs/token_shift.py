# DT1043 aten.cat.default at: shifted = torch.cat([before, mine
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(9)
B, T, D = 2, 16, 6
x = torch.randn(B, T, D)
mix = torch.rand(D)
key = nn.Linear(D, D, bias=False)
mine = x.chunk(world, dim=1)[rank].contiguous()
with torch.no_grad():
    before = torch.zeros(B, 1, D)
    #right if rank + 1 < world:
        #right dist.send(mine[:, -1:].contiguous(), rank + 1)
    #right if rank > 0:
        #right dist.recv(before, rank - 1)
    shifted = torch.cat([before, mine[:, :-1]], dim=1)
    k = key(mine * mix + shifted * (1 - mix))
    out = torch.relu(k).pow(2).sum()
    dist.all_reduce(out)
print("result %.5f" % out.item())
dist.destroy_process_group()
