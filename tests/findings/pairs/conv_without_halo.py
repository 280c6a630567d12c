# DT1043 aten.convolution.default at: return self.conv(torch.cat
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, C, T, K = 2, 4, 16, 3
class CausalConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(C, C, K)
    def forward(self, x):
        left = torch.zeros(B, C, K - 1)
        #right edge = [torch.empty(B, C, K - 1) for _ in range(world)]
        #right dist.all_gather(edge, x[..., -(K - 1):].contiguous())
        #right if rank > 0: left = edge[rank - 1]
        return self.conv(torch.cat([left, x], -1))  # wrong
        #right return self.conv(torch.cat([left, x], -1))
net = CausalConv()
x = torch.randn(B, C, T)
n = T // world
with torch.no_grad():
    y = net(x[..., rank * n:(rank + 1) * n])
    s = y.square().sum()
    dist.all_reduce(s)
    print("result %.5f" % s.item())
