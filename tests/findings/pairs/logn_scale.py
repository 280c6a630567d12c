# DT1150 q at: q = q * (math.log(n) / math.log(trained))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("cp",))
T, D, trained = 64, 8, 8

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        n = x.size(1)
        #right n = n * mesh.size()
        q = q * (math.log(n) / math.log(trained))
        k, v = gather(k), gather(v)
        return self.out(F.scaled_dot_product_attention(q, k, v))

def gather(t):
    parts = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(parts, t.contiguous(), group=mesh.get_group())
    return torch.cat(parts, 1)

model = Attention()
x = torch.randn(2, T, D)
with torch.no_grad():
    y = gather(model(x.chunk(world, 1)[mesh.get_local_rank()].contiguous()))
show(y)
