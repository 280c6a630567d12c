# SPDX-License-Identifier: MIT
"""torch._C._distributed_c10d: the names that stand in torch.distributed, too."""
from torch.distributed import (
    Backend, DebugLevel, FileStore, GradBucket, HashStore, PrefixStore,
    ProcessGroup, ReduceOp, Store, TCPStore, Work, get_debug_level,
    set_debug_level)
from torch.distributed.distributed_c10d import _resolve_process_group
