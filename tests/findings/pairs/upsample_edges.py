# DT1043 x at: y = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)  # wrong
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

# decoder on strips of an image: bilinear upsampling needs the neighbour's edge rows
H, W = 16, 8
image = torch.randn(1, 2, H, W)
rows = H // world
x = image[:, :, rank * rows:(rank + 1) * rows].contiguous()

def exchange(t):
    parts = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(parts, t)
    return parts

parts = exchange(x)
y = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)  # wrong
#right top = parts[rank - 1][:, :, -1:] if rank > 0 else x[:, :, :1]
#right bottom = parts[rank + 1][:, :, :1] if rank < world - 1 else x[:, :, -1:]
#right y = F.interpolate(torch.cat([top, x, bottom], 2), scale_factor=2, mode="bilinear", align_corners=False)[:, :, 2:-2].contiguous()
y = torch.tanh(y)
out = torch.cat(exchange(y), 2)
show(out)
