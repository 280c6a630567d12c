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


h = torch.ones(2, dtype=torch.bfloat16)
print(said(lambda: (h * 1j).dtype))
print((h * torch.ones(2, dtype=torch.complex64)).dtype)

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  torch.complex64
#   2.15  NotImplementedError: "mul_cpu" not implemented for 'BComplex32'
