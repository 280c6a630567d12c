# DT1150 aten.constant_pad_nd.default at: h = F.local_response_norm(h, size=5, alpha=0.5, beta=0.75, k=2.0)  # wrong
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

# AlexNet-like, output channels of the convolution cut over the ranks
C = 16
conv = torch.randn(C, 3, 3, 3) * 0.4
bias = torch.randn(C) * 0.1
images = torch.randn(2, 3, 8, 8)
h = F.relu(F.conv2d(images, conv.chunk(world)[rank], bias.chunk(world)[rank], padding=1))
h = F.local_response_norm(h, size=5, alpha=0.5, beta=0.75, k=2.0)  # wrong
parts = [torch.empty_like(h) for _ in range(world)]
dist.all_gather(parts, h.contiguous())
out = torch.cat(parts, 1)
#right out = F.local_response_norm(out, size=5, alpha=0.5, beta=0.75, k=2.0)
show(F.max_pool2d(out, 2))
