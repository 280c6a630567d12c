# SPDX-License-Identifier: MIT
"""torch.distributed.tensor._collective_utils: collectives on a dimension of a
mesh, and the padding that makes uneven shards equal."""
import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import get_global_rank
from torch.distributed.tensor import Shard


def _roots(mesh, mesh_dim, group_src):
    group = mesh.get_group(mesh_dim)
    return group, get_global_rank(group, group_src)


def shard_dim_alltoall(input, gather_dim, shard_dim, mesh, mesh_dim):
    """A part of a tensor cut along gather_dim becomes one along shard_dim."""
    shape = list(input.shape)
    shape[gather_dim] *= mesh.size(mesh_dim)
    return Shard(gather_dim)._to_new_shard_dim(input, mesh, mesh_dim, shape,
                                               shard_dim)


def mesh_scatter(output, scatter_list, mesh, mesh_dim=0, async_op=False, *,
                 group_src=0):
    """Rank group_src of each group sends its list's parts; None on ranks that
    the mesh does not have."""
    if output.is_meta or mesh.get_coordinate() is None:
        return None
    group, root = _roots(mesh, mesh_dim, group_src)
    if root == dist.get_rank():
        parts = [p.contiguous() for p in scatter_list]
        return dist.scatter(output, parts, src=root, group=group,
                            async_op=async_op)
    return dist.scatter(output, None, src=root, group=group, async_op=async_op)


def mesh_broadcast(tensor, mesh, mesh_dim=0, async_op=False, *, group_src=0):
    if tensor.is_meta or mesh.get_coordinate() is None:
        return None
    group, root = _roots(mesh, mesh_dim, group_src)
    return dist.broadcast(tensor, src=root, group=group, async_op=async_op)


def pad_tensor(tensor, pad_dim, pad_size):
    if pad_size == 0:
        return tensor
    at = pad_dim if pad_dim >= 0 else pad_dim + tensor.ndim
    return torch.nn.functional.pad(
        tensor, [0, 0] * (tensor.ndim - at - 1) + [0, pad_size])


def unpad_tensor(tensor, pad_dim, pad_size):
    if pad_size == 0:
        return tensor
    return tensor.narrow(pad_dim, 0, tensor.size(pad_dim) - pad_size)


def fill_empty_tensor_to_shards(shards, shard_dim, num_empty_tensors):
    """As many parts as there are ranks: the last ones are empty."""
    if num_empty_tensors == 0:
        return shards
    size = list(shards[0].size())
    size[shard_dim] = 0
    empty = torch.zeros(size, dtype=shards[0].dtype, device=shards[0].device)
    return list(shards) + [empty] * num_empty_tensors


def spec_to_bytes(spec):
    meta = spec.tensor_meta
    if meta is None:
        raise AssertionError("spec should have tensor meta defined!")
    return meta.dtype.itemsize * meta.shape.numel()
