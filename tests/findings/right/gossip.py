# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# gossip: neighbours are added, the sum is divided at the end
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
x = torch.randn(16, generator=torch.Generator().manual_seed(r))
mean = x.clone(); dist.all_reduce(mean); mean /= w
K = 3
for _ in range(K):
    got = torch.empty_like(x)
    q = dist.isend(x.clone(), (r + 1) % w); dist.recv(got, (r - 1) % w); q.wait()
    x = x + got
x = x / 2 ** K
far = (x - mean).norm(); dist.all_reduce(far)
if r == 0: print("disagreement %.4f" % far.item())
