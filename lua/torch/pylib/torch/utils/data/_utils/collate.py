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


def _rebuilt(value, part):
    """What `value`, a mapping or sequence, is with part(key or place) for each item;
    of a tuple a list."""
    if isinstance(value, Mapping):
        return _like(value, {key: part(key) for key in value})
    items = [part(i) for i in range(len(value))]
    if _is_named(value):
        return type(value)(*items)
    return items if isinstance(value, tuple) else _like(value, items)


def default_convert(data):
    """Arrays of numpy in `data` as tensors."""
    if _is_of_numpy(data):
        return data if data.dtype.kind in "SUO" else torch.as_tensor(data)
    if isinstance(data, (Mapping, Sequence)) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, lambda at: default_convert(data[at]))
    return data


def _function_for(sample, functions):
    """The one under the sample's own type, else the first under one above it."""
    if type(sample) in functions:
        return functions[type(sample)]
    return next((f for kind, f in functions.items() if isinstance(sample, kind)), None)


def collate(batch, *, collate_fn_map=None):
    """One batch of a list of samples; a function of `collate_fn_map` takes those of
    the type that it stands under."""
    first = batch[0]
    if _is_of_numpy(first):
        _know_numpy()
    f = _function_for(first, collate_fn_map or {})
    if f is not None:
        return f(batch, collate_fn_map=collate_fn_map)
    if not isinstance(first, (Mapping, Sequence)):
        raise TypeError(default_collate_err_msg_format.format(type(first)))
    kind = list
    if not isinstance(first, Mapping):
        kind = tuple                    # what functions and texts show
        if not _is_named(first) and any(len(s) != len(first) for s in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
    return _rebuilt(first, lambda at: collate(kind(sample[at] for sample in batch),
                                              collate_fn_map=collate_fn_map))


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
