# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# A program that counts collectives while it runs: the mode it enters takes
# DTensor's operators apart, the recorder sees them whole all the same.
import torch
import torch.nn as nn
from torch.distributed.tensor import Replicate, init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

mesh = init_device_mesh("cpu", (4,))
table = parallelize_module(nn.Embedding(8, 4), mesh, RowwiseParallel(
    input_layouts=Replicate(), use_local_output=False))
with CommDebugMode() as outer:
    tokens = table(torch.arange(8))
    with CommDebugMode() as inner:
        twice = tokens * 2
assert inner.get_total_counts() == 0
print(twice.shape, outer.get_total_counts())
