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


x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])
print(said(lambda: x.as_strided((4, 8), (1, 4)).placements))
print(said(lambda: x.as_strided((2, 2), (1, 4)).placements))

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  RuntimeError: as_strided not supported with DTensor
#   2.15  (Shard(dim=1),)
