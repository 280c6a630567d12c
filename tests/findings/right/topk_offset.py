# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D, k = 32, 8, 3
part = torch.randn(V, D).chunk(world)[rank]
emb = torch.randn(V, D)
h = torch.randn(5, D)
val, idx = (h @ part.t()).topk(k)
vs = [torch.empty_like(val) for _ in range(world)]
ix = [torch.empty_like(idx) for _ in range(world)]
dist.all_gather(vs, val); dist.all_gather(ix, idx)
ix = [i + r * part.size(0) for r, i in enumerate(ix)]
best = torch.cat(vs, -1).argmax(-1, keepdim=True)
print(emb[torch.cat(ix, -1).gather(-1, best)[:, 0]].sum())
