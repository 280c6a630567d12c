# DT1043 denom at: m = logits.max(dim=-1, keepdim=True)[0]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# vocab parallel softmax: each rank shifts with its own maximum
V, D, N = 24, 8, 6
h, head = torch.randn(N, D), torch.randn(V, D)
per = V // world
logits = h @ head.chunk(world)[rank].t()
m = logits.max(dim=-1, keepdim=True)[0]
#right dist.all_reduce(m, op=dist.ReduceOp.MAX)
e = torch.exp(logits - m)
denom = e.sum(-1, keepdim=True)
dist.all_reduce(denom)
probs = e / denom
full = [torch.empty_like(probs) for _ in range(world)]
dist.all_gather(full, probs)
probs = torch.cat(full, -1)
print("result %.5f" % (-(probs * probs.clamp_min(1e-9).log()).sum(-1)).mean().item())
