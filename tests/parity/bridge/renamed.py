# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Names that the repro would give itself are the program's here.
import torch
from torch.distributed.tensor import init_device_mesh, distribute_tensor, Shard
mesh = init_device_mesh("cpu", (4,))
def double(a):
    return a * 2
_ENV = distribute_tensor(torch.ones(8), mesh, [Shard(0)])
x = double(_ENV * 1)
y = double(x * 1)
a_2 = y * 3
z = a_2 + 1
w = _ENV + z
print(w.placements)
