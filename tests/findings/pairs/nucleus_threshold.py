# DT1043 kept at: kept = torch.topk(logits, 4)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
# nucleus sampling on vocabulary parallel logits: the threshold of each part
torch.manual_seed(1)
V, D = 32, 8
hidden, head = torch.randn(D), torch.randn(V, D)
part = head.chunk(world)[rank]
logits = part @ hidden
if True: # wrong
    kept = torch.topk(logits, 4).values.min() # wrong
#right parts = [torch.empty_like(logits) for _ in range(world)]
#right dist.all_gather(parts, logits)
#right kept = torch.topk(torch.cat(parts), 4).values.min()
logits = logits.masked_fill(logits < kept, float("-inf"))
top = logits.max()
dist.all_reduce(top, op=dist.ReduceOp.MAX)
p = (logits - top).exp()
z = p.sum()
dist.all_reduce(z)
p = p / z
entropy = -(p * (p + 1e-9).log()).sum()
dist.all_reduce(entropy)
print("result %.5f" % entropy.item())
dist.destroy_process_group()
