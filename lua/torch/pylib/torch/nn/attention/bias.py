# SPDX-License-Identifier: MIT
"""torch.nn.attention.bias: causal masks, as masks of booleans."""
import torch


def causal_upper_left(*size):
    return torch.ones(*size, dtype=torch.bool).tril()


def causal_lower_right(*size):
    rows, columns = size
    return torch.ones(*size, dtype=torch.bool).tril(columns - rows)
