# DT1026 aten.cat.default at: full = torch.cat(parts, 0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
torch.manual_seed(13)
class FFN(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16, bias=False)
        self.down = nn.Linear(16, 8, bias=False)
    def forward(self, x):
        return self.down(F.relu(self.up(x)))
model = FFN()
parallelize_module(model, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
fully_shard(model, mesh=mesh["dp"])
opt = torch.optim.SGD(model.parameters(), lr=0.1)
g = torch.Generator().manual_seed(mesh["dp"].get_local_rank())
for _ in range(2):
    x = torch.randn(4, 8, generator=g)
    loss = F.mse_loss(model(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
w = model.up.weight.detach()
parts = [torch.empty_like(w.to_local()) for _ in range(world)]
dist.all_gather(parts, w.to_local().contiguous())
full = torch.cat(parts, 0)  # wrong
#right full = w.full_tensor()
down = model.down.weight.detach().full_tensor()
x = torch.randn(3, 8, generator=torch.Generator().manual_seed(99))
y = F.relu(x @ full.T) @ down.T
print("export %.5f" % y.square().sum().item())
dist.destroy_process_group()
