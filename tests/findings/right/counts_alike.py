# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
# Clusters that have as many members on each rank: by chance, not copies.
import torch, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
X = torch.randn(24, 3)
labels = torch.arange(24) % 12 % 5 % 4
x, c = X.chunk(world)[rank], X[:4].clone()
for _ in range(2):
    members = labels.chunk(world)[rank]
    one = F.one_hot(members, 4).float()
    n, s = one.sum(0), one.t() @ x
    dist.all_reduce(n)
    dist.all_reduce(s)
    c = s / n[:, None]
both = torch.stack([c.sum(), x.sum()])
dist.all_reduce(both)
print("result %.5f" % both[0].item())
