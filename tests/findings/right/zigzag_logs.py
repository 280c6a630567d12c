# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# blocks of a sequence dealt in a zigzag, strided heads, each rank logs its own; a scan handed on
import torch, torch.distributed as dist, torch.nn.functional as F
from torch import nn
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(6)
def deal(t):
    p = t.chunk(2 * world, 1)
    return torch.cat([p[rank], p[2 * world - 1 - rank]], 1)
def undo(parts):
    first = [p.chunk(2, 1)[0] for p in parts]; last = [p.chunk(2, 1)[1] for p in parts]
    return torch.cat(first + last[::-1], 1)
tok, lin = nn.Embedding(12, 6), nn.Linear(6, 12)
ids = torch.randint(0, 12, (3, 17))
x, y = deal(ids[:, :-1]), deal(ids[:, 1:])
opt = torch.optim.SGD([*tok.parameters(), *lin.parameters()], lr=0.3)
for step in range(3):
    logits = lin(torch.tanh(tok(x)))
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    opt.zero_grad(); loss.backward()
    for p in [*tok.parameters(), *lin.parameters()]:
        dist.all_reduce(p.grad); p.grad /= world
    opt.step()
    print("rank", rank, "own loss", round(loss.item(), 4))
with torch.no_grad():
    out = lin(torch.tanh(tok(x)))
    parts = [torch.empty_like(out) for _ in range(world)]
    dist.all_gather(parts, out)
    if rank == 0: print(undo(parts).argmax(-1).tolist())
dist.destroy_process_group()
