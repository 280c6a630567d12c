# SPDX-License-Identifier: MIT
"""torch.overrides: modes that see each call of a function of torch."""
import _function_modes


class TorchFunctionMode:
    """While it is entered, calls go through its __torch_function__."""

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _function_modes.push(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _function_modes.pop()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def resolve_name(f):
    """Where a function of torch is found, or None."""
    return _function_modes.where(f)
