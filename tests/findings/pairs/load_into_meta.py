# DT1051 net[0].weight at: net.load_state_dict(saved, strict=False)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, distribute_module
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
torch.manual_seed(1)
def build(): return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 6))
saved = {k: v.clone() for k, v in build().state_dict().items()}
with torch.device("meta"): net = build()
net.load_state_dict(saved, strict=False)  # wrong
for l in (net[0], net[2]): fully_shard(l, mesh=mesh)
fully_shard(net, mesh=mesh)
net.to_empty(device="cpu")
for l in (net[0], net[2]): l.reset_parameters()
#right for k, p in net.named_parameters(): p.data.copy_(distribute_tensor(saved[k], mesh, p.placements))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
g = torch.Generator().manual_seed(rank)
for step in range(3):
    x = torch.randn(4, 6, generator=g)
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
s = sum(p.full_tensor().square().sum() for p in net.parameters())
if rank == 0: print("result %.6f" % s.item())
