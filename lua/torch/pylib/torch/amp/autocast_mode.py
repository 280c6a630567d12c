# SPDX-License-Identifier: MIT
"""torch.amp.autocast_mode: autograd functions under autocast."""
import functools

import torch
from torch.amp import autocast


def _cast(value, device_type, dtype):
    if isinstance(value, torch.Tensor):
        wanted = (value.is_floating_point() and value.device.type == device_type
                  and value.dtype is not torch.float64)
        return value.to(dtype) if wanted else value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype)
                for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def _check_device(name, device_type):
    if not isinstance(device_type, str):
        raise ValueError("Expected `device_type` of type `str`, got: "
                         f"`{type(device_type)}`")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For forward of an autograd function: under autocast it computes in
    cast_inputs, or as its surroundings do."""
    _check_device("custom_fwd", device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type,
                                 cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        on = torch.is_autocast_enabled(device_type)
        args[0]._dtype = torch.get_autocast_dtype(device_type)
        if cast_inputs is None or not on:
            args[0]._fwd_used_autocast = on and cast_inputs is None
            return fwd(*args, **kwargs)
        args[0]._fwd_used_autocast = False
        with autocast(device_type=device_type, enabled=False):
            return fwd(args[0], *_cast(args[1:], device_type, cast_inputs),
                       **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd=None, *, device_type):
    """For backward: as forward was computed."""
    _check_device("custom_bwd", device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast,
                      dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
