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


x = distribute_tensor(torch.arange(32.).reshape(8, 4), mesh, [Shard(0)])
print((x >= 0).all().placements)
print((x > 30).any().placements)
print((x > 30).any().full_tensor())

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  (Partial(product),)
#   2.15  (Replicate(),)
# output line 2
#   2.13  (Partial(sum),)
#   2.15  (Replicate(),)
