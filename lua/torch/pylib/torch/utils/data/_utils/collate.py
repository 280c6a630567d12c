# SPDX-License-Identifier: MIT
"""Samples as batches: what a DataLoader makes of a list of them."""
import copy
import sys
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import torch

default_collate_err_msg_format = ("default_collate: batch must contain tensors, numpy "
                                  "arrays, numbers, dicts or lists; found {}")


def _is_named(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _is_of_numpy(value):
    """Nothing is while no program has asked for numpy, which takes its time."""
    np = sys.modules.get("numpy")
    return np is not None and isinstance(value, (np.ndarray, np.generic))


def _like(value, items):
    """`items`, a dict or list, as an object of the class that `value` has: a changed
    copy of it, or the class called with them; `items` where neither can be."""
    mapping = isinstance(items, dict)
    try:
        if not isinstance(value, MutableMapping if mapping else MutableSequence):
            return type(value)(items)
        out = copy.copy(value)
        for key in items if mapping else range(len(items)):
            out[key] = items[key]
        return out
    except TypeError:
        return items


def default_convert(data):
    """Arrays of numpy in `data` as tensors."""
    if isinstance(data, (torch.Tensor, str, bytes)):
        return data
    if _is_of_numpy(data):
        return data if data.dtype.kind in "SUO" else torch.as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(data[key]) for key in data})
    if _is_named(data):
        return type(data)(*(default_convert(v) for v in data))
    if isinstance(data, Sequence):
        items = [default_convert(v) for v in data]
        return items if isinstance(data, tuple) else _like(data, items)
    return data


def collate(batch, *, collate_fn_map=None):
    """One batch of a list of samples; a function of `collate_fn_map` takes those of
    the type that it stands under."""
    first = batch[0]
    if _is_of_numpy(first):
        _know_numpy()
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for its_type, f in collate_fn_map.items():
            if isinstance(first, its_type):
                return f(batch, collate_fn_map=collate_fn_map)

    def again(samples):
        return collate(samples, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _like(first, {key: again([sample[key] for sample in batch])
                             for key in first})
    if _is_named(first):
        return kind(*(again(samples) for samples in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        items = [again(samples) for samples in zip(*batch)]
        return items if isinstance(first, tuple) else _like(first, items)
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch, *, collate_fn_map=None):
    return torch.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    if batch[0].dtype.kind in "SUO":
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([torch.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    return torch.as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map=None):
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    return torch.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map = {
    torch.Tensor: collate_tensor_fn, float: collate_float_fn, int: collate_int_fn,
    str: collate_str_fn, bytes: collate_str_fn}


def _know_numpy():
    np = sys.modules["numpy"]
    default_collate_fn_map.setdefault(np.ndarray, collate_numpy_array_fn)
    default_collate_fn_map.setdefault((np.bool_, np.number),
                                      collate_numpy_scalar_fn)


def default_collate(batch):
    """Tensors stacked, numbers as tensors, texts as they are, by place and key."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
