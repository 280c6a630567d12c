# SPDX-License-Identifier: MIT
"""torch.distributed.tensor._ops.utils: small helpers of sharding rules."""
import math


def normalize_dim(dim, ndim):
    return dim if dim >= 0 else dim + ndim


def normalize_dims(dims, ndim):
    if isinstance(dims, int):
        return (normalize_dim(dims, ndim),)
    return type(dims)([normalize_dim(d, ndim) for d in dims])


def prod(xs):
    return math.prod(xs)


def is_tensor_shardable(shape, spec):
    """Has every dimension at least as many elements as parts?"""
    parts = [1] * len(shape)
    for at, p in enumerate(spec.placements):
        if p.is_shard():
            if p.dim >= len(shape):
                return False
            parts[p.dim] *= spec.mesh.size(at)
    return all([n == 1 or size >= n for n, size in zip(parts, shape)])


def is_tensor_evenly_shardable(shape, spec):
    parts = [1] * len(shape)
    for at, p in enumerate(spec.placements):
        if p.is_shard():
            parts[p.dim] *= spec.mesh.size(at)
    return all([n == 1 or size % n == 0 for n, size in zip(parts, shape)])


def is_tensor_dim_sharded(spec, dim):
    return any([p.is_shard(dim) for p in spec.placements])


def is_tensor_partial(spec):
    return any([p.is_partial() for p in spec.placements])
