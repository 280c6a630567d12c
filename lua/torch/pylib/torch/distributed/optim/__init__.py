# SPDX-License-Identifier: MIT
"""torch.distributed.optim."""
from torch.distributed.optim.zero_redundancy_optimizer import (
    ZeroRedundancyOptimizer)
