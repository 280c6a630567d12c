# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# groups train with fully_shard on their own data, and are averaged every other step
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import TensorDataset, DataLoader, DistributedSampler
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rep", "shard"))
torch.manual_seed(4)
net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
fully_shard(net, mesh=mesh["shard"])
data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, world, rank))
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
group = mesh["rep"].get_group()
for k, (x, y) in enumerate(loader):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    if k % 2 == 1:
        for p in net.parameters():
            dist.all_reduce(p.data.to_local(), op=dist.ReduceOp.AVG, group=group)
s = sum(p.detach().full_tensor().abs().sum().item() for p in net.parameters())
print("net %.5f" % s)
dist.destroy_process_group()
