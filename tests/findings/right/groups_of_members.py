# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("member", "dp"))
torch.manual_seed(3 + mesh["member"].get_local_rank())
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
fully_shard(net, mesh=mesh["dp"])
opt = torch.optim.AdamW(net.parameters(), lr=0.02)
g = torch.Generator().manual_seed(10 + rank)
for _ in range(3):
    x, y = torch.randn(4, 6, generator=g), torch.randint(0, 3, (4,), generator=g)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
x = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
with torch.no_grad():
    p = net(x).softmax(-1)
dist.all_reduce(p, group=mesh.get_group("member"))
print("mean %.5f" % (p / 2).max(-1)[0].sum().item())
dist.destroy_process_group()
