# SPDX-License-Identifier: MIT
"""torch.optim.optimizer."""
import torch
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer

ParamsT = "ParamsT"             # of annotations
_foreach_supported_types = [torch.Tensor, torch.nn.Parameter, DTensor]


class _RequiredParameter:
    """What stands for a setting that every group must give."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()
