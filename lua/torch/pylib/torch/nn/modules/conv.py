# SPDX-License-Identifier: MIT
"""torch.nn.modules.conv: the classes above the convolutions."""
from _functions import register_below
from torch.nn import Conv1d, Conv2d, Conv3d, ConvTranspose1d, \
    ConvTranspose2d, ConvTranspose3d, Module


class _ConvNd(Module):
    pass


class _ConvTransposeNd(_ConvNd):
    pass


for _below in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d):
    register_below(_ConvTransposeNd, _below)
for _below in (Conv1d, Conv2d, Conv3d, _ConvTransposeNd):
    register_below(_ConvNd, _below)
