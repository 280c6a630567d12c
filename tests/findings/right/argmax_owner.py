# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D = 32, 8
part, emb = torch.randn(V, D).chunk(world)[rank], torch.randn(V, D)
val, idx = (part @ torch.randn(D)).max(0)
vs = [torch.empty(()) for _ in range(world)]
ix = [torch.empty((), dtype=torch.int64) for _ in range(world)]
dist.all_gather(vs, val); dist.all_gather(ix, idx)
owner = torch.stack(vs).argmax()
tok = torch.stack(ix)[owner] + owner * part.size(0)
print(emb[tok].sum())
