# DT1026 full at: full = torch.cat(got, dim=1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
# balanced context parallel: outputs are gathered and compared in rank order
torch.manual_seed(7)
B, T, D, V = 2, 32, 6, 9
ids = torch.randint(0, V, (B, T))
want = ids.roll(-1, 1)
emb, out = nn.Embedding(V, D), nn.Linear(D, V)
pieces = ids.chunk(2 * world, dim=1)
mine = torch.cat([pieces[rank], pieces[2 * world - 1 - rank]], dim=1)
with torch.no_grad():
    logits = out(torch.tanh(emb(mine)))
    got = [torch.empty_like(logits) for _ in range(world)]
    dist.all_gather(got, logits)
    full = torch.cat(got, dim=1) # wrong
    #right halves = [h for g in got for h in g.chunk(2, dim=1)]
    #right order = [2 * r for r in range(world)] + [2 * r + 1 for r in reversed(range(world))]
    #right full = torch.cat([halves[i] for i in order], dim=1)
    right = (full.argmax(-1) == want).float().mean()
    loss = F.cross_entropy(full.flatten(0, 1), want.flatten())
print("result %.5f %.5f" % (right.item(), loss.item()))
dist.destroy_process_group()
