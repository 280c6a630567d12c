# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.planner_helpers: items of plans."""
import torch
from torch.distributed._shard.sharded_tensor import ShardedTensor
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._utils import \
    compute_local_shape_and_global_offset
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata, ChunkStorageMetadata, MetadataIndex,
    TensorProperties, TensorStorageMetadata)
from torch.distributed.checkpoint.planner import (
    LoadItemType, ReadItem, TensorWriteData, WriteItem, WriteItemType)


def _whole(tensor):
    return ChunkStorageMetadata(offsets=torch.Size([0] * tensor.dim()),
                                sizes=tensor.size())


def _chunk_of(value):
    """The part of a DTensor that this rank has."""
    sizes, offsets = compute_local_shape_and_global_offset(
        value.shape, value.device_mesh, value.placements)
    return ChunkStorageMetadata(offsets=torch.Size(offsets),
                                sizes=torch.Size(sizes))


def _local_chunks(value):
    if isinstance(value, DTensor):
        return [_chunk_of(value)]
    if isinstance(value, ShardedTensor):
        return [ChunkStorageMetadata(
            offsets=torch.Size(s.metadata.shard_offsets),
            sizes=torch.Size(s.metadata.shard_sizes))
            for s in value.local_shards()]
    return [_whole(value)]


def _data(value, chunk):
    if isinstance(value, ShardedTensor):
        made = value.metadata().tensor_properties
        properties = TensorProperties(
            dtype=made.dtype, layout=made.layout,
            requires_grad=made.requires_grad,
            memory_format=made.memory_format, pin_memory=made.pin_memory)
    else:
        properties = TensorProperties.create_from_tensor(value)
    return TensorWriteData(chunk=chunk, properties=properties,
                           size=value.size())


def _create_write_item_for_tensor(fqn, tensor):
    chunk = _whole(tensor)
    return WriteItem(index=MetadataIndex(fqn, chunk.offsets),
                     type=WriteItemType.TENSOR,
                     tensor_data=_data(tensor, chunk))


def _create_write_items(fqn, value):
    if isinstance(value, (DTensor, ShardedTensor)):
        return [WriteItem(index=MetadataIndex(fqn, c.offsets),
                          type=WriteItemType.SHARD,
                          tensor_data=_data(value, c))
                for c in _local_chunks(value)]
    if isinstance(value, torch.Tensor):
        return [_create_write_item_for_tensor(fqn, value)]
    return [WriteItem(index=MetadataIndex(fqn), type=WriteItemType.BYTE_IO)]


def _overlap(saved, wanted):
    """[(dim's offset in saved, in wanted, length)], None where they share
    nothing."""
    out = []
    for s0, n0, s1, n1 in zip(saved.offsets, saved.sizes, wanted.offsets,
                              wanted.sizes):
        first, last = max(s0, s1), min(s0 + n0, s1 + n1)
        if first >= last:
            return None
        out.append((first - s0, first - s1, last - first))
    return out


def create_read_items_for_chunk_list(fqn, checkpoint_md, local_chunks):
    items = []
    for wanted in local_chunks:
        for number, saved in enumerate(checkpoint_md.chunks):
            shared = _overlap(saved, wanted)
            if shared is None:
                continue
            items.append(ReadItem(
                type=LoadItemType.TENSOR,
                dest_index=MetadataIndex(fqn, wanted.offsets),
                dest_offsets=torch.Size([row[1] for row in shared]),
                storage_index=MetadataIndex(fqn, saved.offsets, number),
                storage_offsets=torch.Size([row[0] for row in shared]),
                lengths=torch.Size([row[2] for row in shared])))
    return items


def _create_read_items(fqn, md, value):
    if isinstance(md, BytesStorageMetadata):
        none = torch.Size([0])
        return [ReadItem(LoadItemType.BYTE_IO, MetadataIndex(fqn), none,
                         MetadataIndex(fqn), none, none)]
    return create_read_items_for_chunk_list(fqn, md, _local_chunks(value))
