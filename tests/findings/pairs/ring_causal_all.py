# DT1118 aten.mul.Tensor at: s = s * own # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
T, D = 16, 8
q, k, v = (torch.randn(T, D).chunk(world)[rank].clone() for _ in range(3))
C = T // world
num, den = torch.zeros(C, D), torch.zeros(C, 1)
own = torch.ones(C, C).tril().bool()
for step in range(world):
    source = (rank - step) % world
    s = (q @ k.t() / D ** 0.5).exp()
    if source <= rank: # wrong
        s = s * own # wrong
    #right if source <= rank:
    #right     s = s * own if source == rank else s
        num, den = num + s @ v, den + s.sum(1, keepdim=True)
    nk, nv = torch.empty_like(k), torch.empty_like(v)
    ops = [dist.P2POp(dist.isend, k, (rank + 1) % world), dist.P2POp(dist.irecv, nk, (rank - 1) % world),
           dist.P2POp(dist.isend, v, (rank + 1) % world), dist.P2POp(dist.irecv, nv, (rank - 1) % world)]
    for w in dist.batch_isend_irecv(ops): w.wait()
    k, v = nk, nv
s = (num / den).pow(2).sum()
dist.all_reduce(s)
print("result %.5f" % s.item())
dist.destroy_process_group()
