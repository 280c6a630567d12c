# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The repro of a failed call has the names of the program.
import torch
import torch.nn as nn
from torch.distributed.tensor import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.scale = nn.Parameter(torch.ones(16))

    def forward(self, x):
        h = self.up(x).relu()
        return h * self.scale


mesh = init_device_mesh("cpu", (4,))
model = parallelize_module(Scaled(), mesh, {
    "up": ColwiseParallel(use_local_output=False)})
model(torch.ones(4, 8))
