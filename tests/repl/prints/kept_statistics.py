# SPDX-License-Identifier: MIT
# What a normalization that keeps no statistics has.
import torch, torch.nn as nn
for m in (nn.BatchNorm1d(3, track_running_stats=False), nn.InstanceNorm1d(3), nn.InstanceNorm1d(3, track_running_stats=True), nn.BatchNorm2d(2, affine=False)):
    print(m, m.running_mean, m.running_var, m.num_batches_tracked, list(m.state_dict()), [n for n, _ in m.named_buffers()], m.weight)
    print(sorted(m._buffers), sorted(m._parameters))
m = nn.BatchNorm1d(3, track_running_stats=False); print(m(torch.arange(6.).view(2,3))); m.eval(); print(m(torch.arange(6.).view(2,3)))
m.reset_running_stats(); m.running_mean = None
m2 = nn.BatchNorm1d(3); m2.running_mean = None; print(list(m2.state_dict()))
