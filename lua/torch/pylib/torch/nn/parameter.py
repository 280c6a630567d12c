# SPDX-License-Identifier: MIT
"""torch.nn.parameter."""
from torch.nn import Buffer, Parameter
