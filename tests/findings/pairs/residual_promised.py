# DT1044 aten.add.Tensor at: out = self.down(F.gelu(self.up(h))) + x
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, Partial
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
class Block(nn.Module):
    def __init__(self, dim, wide):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        full_up, full_down = torch.randn(wide, dim) * 0.2, torch.randn(dim, wide) * 0.2
        self.up, self.down = nn.Linear(dim, wide // 4, bias=False), nn.Linear(wide // 4, dim, bias=False)
        with torch.no_grad():
            self.up.weight.copy_(full_up.chunk(4, 0)[rank])
            self.down.weight.copy_(full_down.chunk(4, 1)[rank])
    def forward(self, x):
        h = self.norm(x)
        out = self.down(F.gelu(self.up(h))) + x  # wrong
        #right out = self.down(F.gelu(self.up(h)))
        out = DTensor.from_local(out, mesh, [Partial()]).redistribute(mesh, [Replicate()]).to_local()
        #right out = out + x
        return out
block = Block(8, 32)
with torch.no_grad():
    y = block(block(torch.randn(3, 8)))
print("out %.5f" % y.square().mean().item())
