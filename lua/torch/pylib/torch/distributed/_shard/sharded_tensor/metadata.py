# SPDX-License-Identifier: MIT
"""torch.distributed._shard.sharded_tensor.metadata."""
from dataclasses import dataclass, field
from torch.distributed.checkpoint.metadata import TensorProperties
import torch


@dataclass
class ShardMetadata:
    shard_offsets: list
    shard_sizes: list
    placement: str = None


@dataclass
class ShardedTensorMetadata:
    shards_metadata: list = field(default_factory=list)
    size: torch.Size = field(default_factory=lambda: torch.Size([]))
    tensor_properties: TensorProperties = field(
        default_factory=TensorProperties)
