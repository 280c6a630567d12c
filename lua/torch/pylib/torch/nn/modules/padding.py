# SPDX-License-Identifier: MIT
"""torch.nn.modules.padding: the classes above the paddings."""
import torch.nn as nn
from _functions import register_below
from torch.nn import Module


class _ConstantPadNd(Module):
    pass


class _CircularPadNd(Module):
    pass


class _ReflectionPadNd(Module):
    pass


class _ReplicationPadNd(Module):
    pass


for _above, _word in ((_ConstantPadNd, "ConstantPad"),
                      (_ConstantPadNd, "ZeroPad"),
                      (_CircularPadNd, "CircularPad"),
                      (_ReflectionPadNd, "ReflectionPad"),
                      (_ReplicationPadNd, "ReplicationPad")):
    for _n in (1, 2, 3):
        register_below(_above, getattr(nn, f"{_word}{_n}d"))
        globals()[f"{_word}{_n}d"] = getattr(nn, f"{_word}{_n}d")
