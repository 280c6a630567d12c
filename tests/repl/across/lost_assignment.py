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


x = distribute_tensor(torch.zeros(8, 4), mesh, [Shard(0)])


def assign():
    x[0] = 1.0
    return x.full_tensor().sum().item()


print(said(assign))

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  NotImplementedError: Operator aten.fill_.Tensor does not have a sharding strategy registered.
#   2.15  0.0
