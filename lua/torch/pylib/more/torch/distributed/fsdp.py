# SPDX-License-Identifier: MIT
"""torch.distributed.fsdp: the names that are Python."""
from torch.distributed.fsdp.api import (
    BackwardPrefetch, CPUOffload, FullOptimStateDictConfig,
    FullStateDictConfig, LocalOptimStateDictConfig, LocalStateDictConfig,
    MixedPrecision, OptimStateDictConfig, ShardedOptimStateDictConfig,
    ShardedStateDictConfig, ShardingStrategy, StateDictConfig,
    StateDictSettings, StateDictType)
from torch.distributed.fsdp.fully_sharded_data_parallel import (
    FullyShardedDataParallel)
