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


x = distribute_tensor(torch.ones(4, 6), mesh, [Shard(0)])
print(said(lambda: x.unbind(0)))
print(said(lambda: x.unbind(1)[0].placements))

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  RuntimeError: ('Attempted to unbind along the sharded dimension 0. ', 'It cannot be performed without redistribution, which is disallowed by the current operator.')
#   2.15  RuntimeError: Attempted to unbind along the sharded dimension 0. Please redistribute the input explicitly before unbinding.
