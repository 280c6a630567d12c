# SPDX-License-Identifier: MIT
"""einops.layers.torch: transformations of shapes as modules."""
import einops
from einops.patterns import EinopsError, Pattern, split_pattern
import torch
from torch import nn


def _shown(module, parts):
    for axis, length in module.axes_lengths.items():
        parts.append(f"{axis}={length}")
    return f"{type(module).__name__}({', '.join(parts)})"


def _check(module, how):
    left = Pattern(module.pattern.split("->")[0])
    try:
        split_pattern(module.pattern, how, module.axes_lengths,
                      len(left.groups))
    except EinopsError as e:
        raise EinopsError(f" Error while preparing {module!r}\n {e}") from None


class Rearrange(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern, self.axes_lengths = pattern, axes_lengths
        _check(self, "rearrange")

    def __repr__(self):
        return _shown(self, [repr(self.pattern)])

    def forward(self, input):
        return einops.rearrange(input, self.pattern, **self.axes_lengths)


class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern, self.reduction = pattern, reduction
        self.axes_lengths = axes_lengths
        _check(self, reduction)

    def __repr__(self):
        return _shown(self, [repr(self.pattern), repr(self.reduction)])

    def forward(self, input):
        return einops.reduce(input, self.pattern, self.reduction,
                             **self.axes_lengths)
