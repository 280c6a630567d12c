# DT1150 c at: h, c = torch.zeros(2, 6), torch.zeros(2, 6)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
cell = nn.LSTMCell(4, 6)
series = torch.randn(16, 2, 4)
part = series.tensor_split(world)[rank]
h, c = torch.zeros(2, 6), torch.zeros(2, 6)
with torch.no_grad():
    #right if rank > 0:
        #right both = torch.empty(2, 2, 6)
        #right dist.recv(both, rank - 1)
        #right h, c = both[0], both[1]
    total = torch.zeros(())
    for x in part:
        h, c = cell(x, (h, c))
        total += h.square().sum()
    #right if rank < world - 1:
        #right dist.send(torch.stack([h, c]), rank + 1)
    dist.all_reduce(total)
print("energy %.5f" % total.item())
dist.destroy_process_group()
