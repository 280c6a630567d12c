# SPDX-License-Identifier: MIT
"""torch.distributed._shard.sharded_tensor: the older tensor in parts, as
checkpoints hold it: parts and what is known of all of them.  Nothing can be
computed with it."""
import _absent
import torch
from torch.distributed._shard.sharded_tensor.metadata import (
    ShardedTensorMetadata, ShardMetadata, TensorProperties)
from torch.distributed.checkpoint.metadata import ChunkStorageMetadata


class Shard:
    def __init__(self, tensor, metadata):
        if list(tensor.size()) != list(metadata.shard_sizes):
            raise ValueError(
                "Shard tensor size does not match with metadata.shard_lengths!"
                " Found shard tensor size: %s, metadata.shard_lengths: %s, "
                % (list(tensor.size()), list(metadata.shard_sizes)))
        self.tensor, self.metadata = tensor, metadata

    @classmethod
    def from_tensor_and_offsets(cls, tensor, shard_offsets, rank):
        return cls(tensor, ShardMetadata(
            list(shard_offsets), list(tensor.size()),
            "rank:%d/%s" % (rank, tensor.device)))


class ShardedTensor:
    def __init__(self, local_shards, metadata):
        self._local_shards, self._metadata = local_shards, metadata

    @classmethod
    def _init_from_local_shards_and_global_metadata(
            cls, local_shards, sharded_tensor_metadata, process_group=None,
            init_rrefs=False, sharding_spec=None):
        return cls(local_shards, sharded_tensor_metadata)

    def local_shards(self):
        return self._local_shards

    def metadata(self):
        return self._metadata

    def size(self, dim=None):
        size = self._metadata.size
        return size if dim is None else size[dim]

    def _all_chunks(self):
        return [ChunkStorageMetadata(offsets=torch.Size(m.shard_offsets),
                                     sizes=torch.Size(m.shard_sizes))
                for m in self._metadata.shards_metadata]

    def __getattr__(self, name):
        raise _absent.error("ShardedTensor.%s is not part of dtrepl"
                            % name)
