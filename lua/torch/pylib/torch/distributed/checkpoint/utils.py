# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.utils: the tensor that an index names."""
import torch
from torch.distributed._shard.sharded_tensor import ShardedTensor


def find_tensor_shard(tensor, index):
    if isinstance(tensor, ShardedTensor):
        return _find_shard(tensor, index).tensor
    if index.offset is not None:
        if index.offset == torch.Size([0] * tensor.dim()):
            return tensor
        raise ValueError("FQN: '%s' is not a ShardedTensor, can't find by "
                         "offset: '%s'" % (index.fqn, index.offset))
    return tensor


def _find_shard(tensor, index):
    if index.offset is None:
        raise ValueError("Cannot lookup %s since its a ShardedTensor and no "
                         "offset was provided" % index.fqn)
    shards = tensor.local_shards()
    if index.index is not None and index.index < len(shards) and torch.Size(
            shards[index.index].metadata.shard_offsets) == index.offset:
        return shards[index.index]
    for shard in shards:
        if torch.Size(shard.metadata.shard_offsets) == index.offset:
            return shard
    raise ValueError("Could not find shard at '%s' for FQN: '%s'"
                     % (index.offset, index.fqn))


def find_state_dict_object(state_dict, index):
    if index.fqn not in state_dict:
        raise ValueError("Could not find FQN: '%s'" % index.fqn)
    found = state_dict[index.fqn]
    if isinstance(found, (torch.Tensor, ShardedTensor)):
        return find_tensor_shard(found, index)
    if index.offset is not None:
        raise ValueError("FQN: '%s' is not a ShardedTensor, can't find by "
                         "offset: '%s'" % (index.fqn, index.offset))
    return found
