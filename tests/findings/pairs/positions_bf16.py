# DT1205 self.position at: net = FSDP(Net()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.register_buffer("position", torch.arange(400, dtype=torch.float32))
        self.register_buffer("inv_freq", 1.0 / 10 ** (torch.arange(4) / 4))
    def forward(self, x):
        angle = (self.position[:, None] * self.inv_freq[None]).to(x.dtype)
        x1, x2 = x.chunk(2, -1)
        x = torch.cat([x1 * angle.cos() - x2 * angle.sin(), x2 * angle.cos() + x1 * angle.sin()], -1)
        return self.lin(x)
mp = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, buffer_dtype=torch.bfloat16)  # wrong
#right mp = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, buffer_dtype=torch.float32)
net = FSDP(Net(), mixed_precision=mp, device_id=torch.device("cpu"))
data = torch.randn(8, 400, 8)
x = data.chunk(world)[rank]
out = net(x).float().mul(data.chunk(world)[rank]).sum()
dist.all_reduce(out)
print("result %.3f" % out.item())
