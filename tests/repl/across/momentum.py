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


p = DTensor.from_local(torch.ones(4, 4), mesh, [Partial()])
print(p.clone().placements)
print(torch.zeros_like(p).placements)
print(p.new_zeros(4, 4).placements)

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  (Replicate(),)
#   2.15  (Partial(sum),)
