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


q = torch.ones(1, 2, 4, 8)
m = torch.ones(4, 4, dtype=torch.bool)
print(said(lambda: F.scaled_dot_product_attention(
    q, q, q, attn_mask=m, is_causal=True).shape))

# PyTorch's own runs on four ranks differ in
# output line 1
#   2.13  torch.Size([1, 2, 4, 8])
#   2.15  RuntimeError: _scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True
