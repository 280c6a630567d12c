# DT1061 x at: F.linear(torch.relu(F.linear(x, self.up))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh.get_local_rank("dp"), mesh.get_local_rank("tp")
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Parameter((torch.randn(8, 5) * 0.4).chunk(2, 0)[tp].clone())
        self.down = nn.Parameter((torch.randn(3, 8) * 0.4).chunk(2, 1)[tp].clone())
    def forward(self, x):
        y = F.linear(torch.relu(F.linear(x, self.up)), self.down)
        dist.all_reduce(y, group=mesh.get_group("tp"))
        return y
model = MLP()
X = torch.randn(8, 5)
with torch.no_grad():
    x = X.chunk(2)[tp]  # wrong
    #right x = X.chunk(2)[dp]
    s = model(x).square().sum()
    dist.all_reduce(s, group=mesh.get_group("dp"))
    print("result %.5f" % s.item())
