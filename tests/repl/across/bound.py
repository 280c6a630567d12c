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


x = torch.tensor([0., 1., 2.], requires_grad=True)
x.clamp(1, 3).sum().backward()
print(x.grad)
y = torch.tensor([0., 1., 2.], requires_grad=True)
torch.clamp(y, torch.ones(3), torch.full((3,), 3.)).sum().backward()
print(y.grad)

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  tensor([0., 1., 1.])
#   2.15  tensor([0., 0., 1.])
# output line 2
#   2.13  tensor([0., 1., 1.])
#   2.15  tensor([0.0000, 0.5000, 1.0000])
