# SPDX-License-Identifier: MIT
"""A batch as microbatches, and their results as one."""
import _absent
import torch
from torch.distributed.tensor import DTensor
from torch.utils._pytree import tree_flatten, tree_unflatten


class TensorChunkSpec:
    """Along which dim a tensor is cut."""

    def __init__(self, split_dim):
        self.split_dim = split_dim

    def __repr__(self):
        return f"{type(self).__module__}.{type(self).__name__}({self.split_dim})"

    def __str__(self):
        return f"TensorChunkSpec({self.split_dim})"

    @staticmethod
    def from_tuple(chunk_dims):
        return tuple(TensorChunkSpec(d) for d in chunk_dims)

    @staticmethod
    def from_dict(chunk_dims):
        return {name: TensorChunkSpec(d) for name, d in chunk_dims.items()}


class _Replicate:
    """What every microbatch is given whole."""


def _refuse_dtensor(t):
    if isinstance(t, DTensor):
        raise _absent.error(
            "torch.distributed.pipelining: microbatches of a DTensor are not "
            "part of dtrepl")


def _split_tensor(tensor, spec, num_chunks):
    _refuse_dtensor(tensor)
    if tensor.size(spec.split_dim) < num_chunks:
        raise AssertionError(f"Tensor size {tensor.size(spec.split_dim)} is "
                             "smaller than num_chunks")
    chunks = torch.tensor_split(tensor, num_chunks, spec.split_dim)
    if tensor.requires_grad and tensor.is_leaf:
        for chunk in chunks:
            chunk.retain_grad()
    return chunks


def _spec_of(value, spec):
    if spec is not None:
        return spec
    return TensorChunkSpec(0) if isinstance(value, torch.Tensor) else _Replicate()


def _most_chunks(values, specs, n):
    """n, or fewer where the first tensor that is cut has fewer rows."""
    for value, spec in zip(values, specs):
        if isinstance(value, torch.Tensor) and isinstance(spec, TensorChunkSpec):
            return min(n, value.size(spec.split_dim))
    return n


def split_args_kwargs_into_chunks(args, kwargs, chunks, args_chunk_spec=None,
                                  kwargs_chunk_spec=None):
    """A list of tuples and one of dicts, one for each microbatch."""
    kwargs = kwargs or {}
    # A rank that is given no arguments may name the specs of all.
    arg_specs = args_chunk_spec if args and args_chunk_spec else [None] * len(args)
    if len(arg_specs) != len(args):
        raise AssertionError(f"{len(args)} arguments, {len(arg_specs)} chunk specs")
    by_name = kwargs_chunk_spec or {}
    values = list(args) + list(kwargs.values())
    specs = [_spec_of(v, s) for v, s in zip(args, arg_specs)]
    specs += [_spec_of(v, by_name.get(name)) for name, v in kwargs.items()]
    n = _most_chunks(values, specs, chunks)
    columns = []
    for value, spec in zip(values, specs):
        if isinstance(spec, TensorChunkSpec) and not isinstance(value, torch.Tensor):
            raise NotImplementedError(
                "torch.distributed.pipelining: an argument of type "
                f"{type(value).__name__} cannot be cut into microbatches by dtrepl: "
                "pass arg_mbs and kwarg_mbs")
        columns.append(_split_tensor(value, spec, n)
                       if isinstance(spec, TensorChunkSpec) else [value] * n)
    places = len(args)
    return ([tuple(c[i] for c in columns[:places]) for i in range(n)],
            [{name: c[i] for name, c in zip(kwargs, columns[places:])}
             for i in range(n)])


def merge_chunks(chunks, chunk_spec=None):
    """What each microbatch gave, as one value of the same structure."""
    flat = [tree_flatten(chunk)[0] for chunk in chunks]
    if chunk_spec is None:
        structure = tree_flatten(chunks[0])[1]
        specs = [TensorChunkSpec(0)] * len(flat[0])
    else:
        specs, structure = tree_flatten(chunk_spec)
    merged = []
    for chunk, values in zip(chunks, flat):
        if len(values) != len(specs):
            raise ValueError(f"Chunk {chunk} did not match chunk spec {chunk_spec}")
    for place, spec in enumerate(specs):
        column = [values[place] for values in flat]
        if isinstance(spec, TensorChunkSpec):
            _refuse_dtensor(column[0])
            merged.append(torch.cat(column, dim=spec.split_dim))
            continue
        for value in column[1:]:
            if value != column[0]:
                raise AssertionError(f"Expected {column[0]}, got {value}")
        merged.append(column[0])
    return tree_unflatten(merged, structure)
