# DT1071 DistributedSampler at: for x, y in DataLoader
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
model = nn.Linear(4, 3)
X, Y = torch.randn(13, 4), torch.randint(0, 3, (13,))
ds = TensorDataset(X, Y)
sampler = DistributedSampler(ds, world, rank, shuffle=False)
outs, refs = [], []
with torch.no_grad():
    for x, y in DataLoader(ds, batch_size=2, sampler=sampler):
        outs.append(model(x))
        refs.append(y)
def collect(t):
    parts = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(parts, t)
    return torch.stack(parts, 1).flatten(0, 1)
o, r = collect(torch.cat(outs)), collect(torch.cat(refs))
#right o, r = o[:len(ds)], r[:len(ds)]
loss = F.cross_entropy(o, r)  # wrong
#right loss = F.cross_entropy(o, r)
print("result %.5f" % loss.item())
