# SPDX-License-Identifier: MIT
"""torch.nn.modules.instancenorm: the class above the instance norms."""
from _functions import register_below
from torch.nn import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from torch.nn.modules.batchnorm import _NormBase


class _InstanceNorm(_NormBase):
    pass


for _below in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d):
    register_below(_InstanceNorm, _below)
