# SPDX-License-Identifier: MIT
"""torch.distributed.algorithms.ddp_comm_hooks: hooks that reduce the buckets of
DistributedDataParallel."""
from torch.distributed.algorithms.ddp_comm_hooks import (debugging_hooks,
                                                         default_hooks)
