# SPDX-License-Identifier: MIT
"""torch.testing: tensors of drawn values, the same values as PyTorch's."""
import math

import torch

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64,
           torch.float8_e4m3fn, torch.float8_e5m2)
_COMPLEX = (torch.complex32, torch.complex64, torch.complex128)


def _limits(dtype):
    """What is drawn unless said otherwise, and the values that there are:
    of integers the end of a range is not one of its values."""
    if dtype == torch.bool:
        return (0, 2), (0, 2)
    if dtype in _INTEGERS:
        info = torch.iinfo(dtype)
        return (0 if info.min == 0 else -9, 10), (info.min, info.max + 1)
    info = torch.finfo(dtype.to_real())
    return (-9, 9), (info.min, info.max)


def _bounds(dtype, low, high):
    (first, last), (least, most) = _limits(dtype)
    low = first if low is None else low
    high = last if high is None else high
    for bound in (low, high):
        if isinstance(bound, float) and math.isnan(bound):
            raise ValueError("`low` and `high` cannot be NaN, but got "
                             f"low={low} and high={high}")
    whole = dtype == torch.bool or dtype in _INTEGERS
    low, high = (math.copysign(most, x) if math.isinf(x) and not whole else x
                 for x in (low, high))
    if low > high or (whole and low == high):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= "
                         f"{high}")
    if high < least or low > most or (whole and (high == least or
                                                 low == most)):
        raise ValueError("The value interval specified by `low` and `high` is "
                         f"[{low}, {high}), but {dtype} only supports "
                         f"[{least}, {most})")
    low, high = max(low, least), min(high, most)
    return (math.ceil(low), math.ceil(high)) if whole else (low, high)


def _draw_reals(t, low, high):
    if high - low >= torch.finfo(t.dtype).max:
        return t.uniform_(low / 2, high / 2).mul_(2)    # its width is a number
    return t.uniform_(low, high)


def _drawn(shape, dtype, device, low, high):
    if dtype == torch.bool or dtype in _INTEGERS:
        low, high = _bounds(dtype, low, high)
        t = torch.empty(shape, device=device, dtype=dtype)
        return t.random_(low, min(high, torch.iinfo(torch.int64).max))
    if dtype in _COMPLEX:
        t = torch.empty(shape, device=device, dtype=dtype)
        _draw_reals(torch.view_as_real(t), *_bounds(dtype, low, high))
        return t
    if dtype in _FLOATS:
        wide = torch.float32 if dtype.itemsize == 1 else dtype
        t = torch.empty(shape, device=device, dtype=wide)
        return _draw_reals(t, *_bounds(dtype, low, high)).to(dtype)
    raise TypeError(f"The requested dtype '{dtype}' is not supported by "
                    "torch.testing.make_tensor(). To request support, file an "
                    "issue at: https://github.com/pytorch/pytorch/issues")


def _least_of(dtype):
    """What stands for 0 where none is wanted."""
    if dtype == torch.bool or dtype in _INTEGERS:
        return 1
    tiny = torch.finfo(dtype.to_real()).tiny
    return complex(tiny, tiny) if dtype in _COMPLEX else tiny


def make_tensor(*shape, dtype, device, low=None, high=None,
                requires_grad=False, noncontiguous=False, exclude_zero=False,
                memory_format=None):
    if len(shape) == 1 and isinstance(shape[0], (list, tuple, torch.Size)):
        shape = shape[0]
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` "
                         "are mutually exclusive, but got noncontiguous="
                         f"{noncontiguous} and memory_format={memory_format}")
    if requires_grad and (dtype == torch.bool or dtype in _INTEGERS):
        raise ValueError("`requires_grad=True` is not supported for boolean "
                         f"and integral dtypes, but got dtype={dtype}")
    shape = tuple(shape)
    gaps = noncontiguous and math.prod(shape) > 1
    if gaps:
        shape = (*shape[:-1], 2 * shape[-1])
    t = _drawn(shape, dtype, device, low, high)
    if gaps:
        t = t[..., 1::2]
    elif memory_format is not None:
        t = t.clone(memory_format=memory_format)
    if exclude_zero:
        t.masked_fill_(t == 0, _least_of(dtype))
    return t.requires_grad_() if requires_grad else t
