# SPDX-License-Identifier: MIT
"""torch.utils._python_dispatch: modes that are given each operator in the
dispatcher's place."""
from contextlib import contextmanager

import _dispatch_modes


class TorchDispatchMode:
    """While it is entered, operators go through its __torch_dispatch__."""

    def __init__(self, _dispatch_key=None):
        pass

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _dispatch_modes.push(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _dispatch_modes.pop()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode():
    """The innermost mode, or None."""
    return _dispatch_modes.current()


@contextmanager
def _disable_current_modes():
    modes = []
    while _dispatch_modes.current() is not None:
        modes.append(_dispatch_modes.current())
        _dispatch_modes.pop()
    try:
        yield modes
    finally:
        for mode in reversed(modes):
            _dispatch_modes.push(mode)
