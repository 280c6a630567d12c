# DT1043 aten.log.default at: logp = logp - lse.log()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
# beam search: the best hypotheses are chosen on each rank's part of the vocabulary
torch.manual_seed(6)
V, D, K = 24, 6, 3
emb, head = torch.randn(V, D), torch.randn(V, D)
per = V // world
part = head[rank * per:(rank + 1) * per]
h = torch.randn(1, D)
logp = h @ part.t()
lse = logp.exp().sum(-1, keepdim=True)
#right dist.all_reduce(lse)
logp = logp - lse.log()
val, idx = logp.topk(K, -1)
idx = idx + rank * per
vals = torch.empty(world, 1, K)
ids = torch.empty(world, 1, K, dtype=torch.long)
dist.all_gather_into_tensor(vals, val.unsqueeze(0))
dist.all_gather_into_tensor(ids, idx.unsqueeze(0))
best, where = vals.permute(1, 0, 2).reshape(1, -1).topk(K, -1)
tokens = ids.permute(1, 0, 2).reshape(1, -1).gather(1, where)
print("result", tokens.tolist(), "%.4f" % best.sum().item())
dist.destroy_process_group()
