# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# FSDP1 over a mesh whose second dimension is 1 divides gradients by all ranks and reduces
# nothing: the program sums them itself, and trains as one rank does with the whole batch
import warnings
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy

warnings.filterwarnings("ignore", message="FSDP is switching")
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (world, 1), mesh_dim_names=("ddp", "fsdp"))
torch.manual_seed(0)
x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
model = FSDP(net, device_mesh=mesh, sharding_strategy=ShardingStrategy.HYBRID_SHARD,
             device_id=torch.device("cpu"), use_orig_params=True)
mine, labels = x.chunk(world)[rank], y.chunk(world)[rank]
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    F.cross_entropy(model(mine), labels).backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
    opt.step()
with torch.no_grad():
    final = F.cross_entropy(model(x), y)
if rank == 0:
    print("%.5f" % final.item())
dist.destroy_process_group()
