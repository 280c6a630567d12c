# SPDX-License-Identifier: MIT
# Lazy instance norms learn weights and statistics unless told otherwise.
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.randn(2, 3, 4, 4)
for net in (nn.LazyInstanceNorm2d(), nn.LazyInstanceNorm2d(affine=False),
            nn.LazyInstanceNorm2d(1e-3, 0.2, False, True),
            nn.LazyInstanceNorm2d(1e-3, track_running_stats=False),
            nn.InstanceNorm2d(3), nn.LazyBatchNorm2d()):
    y = net(x)
    print(type(net).__name__, net.affine, net.track_running_stats, net.eps,
          sorted(n for n, _ in net.named_parameters()),
          sorted(n for n, _ in net.named_buffers()), round(y.abs().sum().item(), 3))
