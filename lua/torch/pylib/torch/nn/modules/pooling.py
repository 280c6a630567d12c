# SPDX-License-Identifier: MIT
"""torch.nn.modules.pooling: the classes above the poolings, which have no
__init__ of their own: a class below them sets what it reads."""
import torch.nn as nn
from _functions import register_below
from torch.nn import Module


class _MaxPoolNd(Module):
    pass


class _MaxUnpoolNd(Module):
    pass


class _AvgPoolNd(Module):
    pass


class _LPPoolNd(Module):
    pass


class _AdaptiveMaxPoolNd(Module):
    pass


class _AdaptiveAvgPoolNd(Module):
    pass


for _above, _word in ((_MaxPoolNd, "MaxPool"), (_MaxUnpoolNd, "MaxUnpool"),
                      (_AvgPoolNd, "AvgPool"), (_LPPoolNd, "LPPool"),
                      (_AdaptiveMaxPoolNd, "AdaptiveMaxPool"),
                      (_AdaptiveAvgPoolNd, "AdaptiveAvgPool")):
    for _n in (1, 2, 3):
        register_below(_above, getattr(nn, f"{_word}{_n}d"))
for _name in ("MaxPool", "MaxUnpool", "AvgPool", "LPPool", "AdaptiveMaxPool",
              "AdaptiveAvgPool"):
    for _n in (1, 2, 3):
        globals()[f"{_name}{_n}d"] = getattr(nn, f"{_name}{_n}d")
FractionalMaxPool2d, FractionalMaxPool3d = (nn.FractionalMaxPool2d,
                                            nn.FractionalMaxPool3d)
