# DT1043 s at: block = s.softmax(1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
T, D = 16, 8
q, k, v = (torch.randn(T, D).chunk(world)[rank].clone() for _ in range(3))
out, lse = torch.zeros(T // world, D), torch.full((T // world, 1), -float("inf"))
for step in range(world):
    s = q @ k.t() / D ** 0.5
    block_lse = s.logsumexp(1, keepdim=True)
    block = s.softmax(1) @ v
    out = (out * step + block) / (step + 1) # wrong
    #right new = torch.logaddexp(lse, block_lse); out = out * (lse - new).exp() + block * (block_lse - new).exp(); lse = new
    nk, nv = torch.empty_like(k), torch.empty_like(v)
    ops = [dist.P2POp(dist.isend, k, (rank + 1) % world), dist.P2POp(dist.irecv, nk, (rank - 1) % world),
           dist.P2POp(dist.isend, v, (rank + 1) % world), dist.P2POp(dist.irecv, nv, (rank - 1) % world)]
    for w in dist.batch_isend_irecv(ops): w.wait()
    k, v = nk, nv
s = out.pow(2).sum()
dist.all_reduce(s)
print("result %.5f" % s.item())
dist.destroy_process_group()
