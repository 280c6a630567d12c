# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(2)
H, T, D = 2, 16, 8
q, k, v = (torch.randn(H, T, D) for _ in range(3))
q, k, v = (t.chunk(world, dim=1)[rank].contiguous() for t in (q, k, v))
L = T // world

def block(q, k, v, mask):
    s = q @ k.transpose(-1, -2) / math.sqrt(D)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    lse = torch.logsumexp(s, dim=-1, keepdim=True)
    return torch.exp(s - lse) @ v, lse

out, lse = None, None
tri = torch.ones(L, L, dtype=torch.bool).tril()
for step in range(world):
    src = (rank - step) % world
    if src <= rank:
        o, l = block(q, k, v, tri if src == rank else None)
        if out is None:
            out, lse = o, l
        else:
            new = torch.logaddexp(lse, l)
            out = out * torch.exp(lse - new) + o * torch.exp(l - new)
            lse = new
    if step + 1 < world:
        nk, nv = torch.empty_like(k), torch.empty_like(v)
        ops = [dist.P2POp(dist.isend, k, (rank + 1) % world), dist.P2POp(dist.isend, v, (rank + 1) % world),
               dist.P2POp(dist.irecv, nk, (rank - 1) % world), dist.P2POp(dist.irecv, nv, (rank - 1) % world)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        k, v = nk, nv
total = out.pow(2).sum()
dist.all_reduce(total)
print("result %.5f" % total.item())
dist.destroy_process_group()
