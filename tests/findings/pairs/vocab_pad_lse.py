# DT1150 z at: z = (logits - top[:, None]).exp().sum(-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(6)
VOCAB = 10
per = -(-VOCAB // world)
w = torch.randn(VOCAB, 6)
padded = torch.cat([w, torch.zeros(per * world - VOCAB, 6)])
part = padded[rank * per:(rank + 1) * per]
h, ids = torch.randn(7, 6), torch.randint(0, VOCAB, (7,))
logits = h @ part.t()
#right cols = torch.arange(per) + rank * per
#right logits = logits.masked_fill(cols >= VOCAB, float("-inf"))
top = logits.amax(-1)
dist.all_reduce(top, op=dist.ReduceOp.MAX)
z = (logits - top[:, None]).exp().sum(-1)
dist.all_reduce(z)
own = (ids >= rank * per) & (ids < (rank + 1) * per)
hit = logits.gather(1, (ids - rank * per).clamp(0, per - 1)[:, None])[:, 0]
hit = torch.where(own, hit, torch.zeros_like(hit))
dist.all_reduce(hit)
print("loss %.5f" % (z.log() + top - hit).mean().item())
