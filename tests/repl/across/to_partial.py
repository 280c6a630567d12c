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


x = distribute_tensor(torch.arange(8.), mesh, [Shard(0)])


def spread():
    y = x.redistribute(mesh, [Partial()])
    return y.placements, y.full_tensor().tolist()


print(said(spread))
print(said(lambda: x.redistribute(mesh, [Partial("max")])))

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  RuntimeError: Can not redistribute from S(0) to P(sum), redistributing to Partial is for internal use only!
#   2.15  ((Partial(sum),), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
# output line 2
#   2.13  RuntimeError: Can not redistribute from S(0) to P(max), redistributing to Partial is for internal use only!
#   2.15  RuntimeError: Can not redistribute from S(0) to P(max), only Shard to Partial(sum) redistribution is supported!
