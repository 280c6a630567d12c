# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor import distribute_tensor
mesh = init_device_mesh("cpu", (4,))


def said(work):
    try:
        return work()
    except Exception as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0]}"


x = distribute_tensor(torch.ones(8, 16), mesh, [Shard(0)])
t = distribute_tensor(torch.zeros(8, dtype=torch.int64), mesh, [Shard(0)])
loss = F.cross_entropy(x, t)
print(loss.placements)
print(F.cross_entropy(x, t, reduction="sum").placements)

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  (Partial(avg),)
#   2.15  (Replicate(),)
