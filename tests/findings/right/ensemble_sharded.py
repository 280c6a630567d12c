# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("member", "dp"))
# an ensemble: each member has its own weights and its own data, cut over dp
torch.manual_seed(mesh.get_local_rank("member"))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
fully_shard(model, mesh=mesh["dp"])
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
g = torch.Generator().manual_seed(rank)
for step in range(3):
    x = torch.randn(8, 4, generator=g)
    loss = F.mse_loss(model(x), x[:, :2])
    opt.zero_grad(); loss.backward(); opt.step()
test = torch.randn(16, 4, generator=torch.Generator().manual_seed(99))
out = model(test).detach()
dist.all_reduce(out)
print("%.5f" % ((out / world).square().mean().item()))
dist.destroy_process_group()
