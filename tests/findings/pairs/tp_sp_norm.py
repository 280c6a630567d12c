# DT1047 net.norm.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (4,))
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))
net = Block()
parallelize_module(net, mesh, {
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Shard(1))})
opt = torch.optim.SGD(net.parameters(), lr=.1)
x = torch.randn(2, 16, 8).chunk(world, 1)[rank]
for _ in range(2):
    opt.zero_grad()
    (net(x).square().sum() / 256).backward()
    #right for p in net.norm.parameters(): dist.all_reduce(p.grad)
    opt.step()
print("%.5f" % net.norm.weight.sum().item())
