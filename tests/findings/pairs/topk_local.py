# DT1043 idx at: vals, idx = (h @ part.t()).topk(3, dim=-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# top-k sampling from vocab parallel logits; ids not shifted
V, D = 32, 8
emb, head = torch.randn(V, D), torch.randn(V, D)
part = head.chunk(world, 0)[rank]
h = torch.randn(5, D)
vals, idx = (h @ part.t()).topk(3, dim=-1)
#right idx = idx + rank * part.size(0)
vs = [torch.empty_like(vals) for _ in range(world)]
ix = [torch.empty_like(idx) for _ in range(world)]
dist.all_gather(vs, vals)
dist.all_gather(ix, idx)
vs, ix = torch.cat(vs, -1), torch.cat(ix, -1)
best = vs.argmax(-1, keepdim=True)
nxt = ix.gather(-1, best).squeeze(-1)
print("result", emb[nxt].sum().item())
