# DT1117 prev at: dist.all_gather(firsts, part[:1]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
seq = torch.randn(16, 4)
part = seq.chunk(world)[rank].contiguous()
firsts = [torch.empty(1, 4) for _ in range(world)]
dist.all_gather(firsts, part[:1].contiguous()) # wrong
#right dist.all_gather(firsts, part[-1:].contiguous())
prev = firsts[rank - 1] if rank else torch.zeros(1, 4)
shifted = torch.cat([prev, part[:-1]])
y = (part * shifted).sum()
dist.all_reduce(y)
print("result %.5f" % y.item())
