# SPDX-License-Identifier: MIT
"""torch.serialization: files of tensors, and the classes that a program lets
weights_only=True read."""
from torch import load, save

_safe = {}                              # classes and functions, in their order


def _name(item):
    """An item's full name, as a pickle has it."""
    if not isinstance(item, tuple):
        return f"{item.__module__}.{item.__qualname__}"
    if len(item) != 2:
        raise ValueError("Expected tuple of length 2 (global, str of callable "
                         f"full path), but got tuple of length: {len(item)}")
    if type(item[1]) is not str:
        raise TypeError("Expected second item in tuple to be str of callable "
                        f"full path, but got: {type(item[1])}")
    return item[1]


def _is_safe(name):
    return name in [_name(item) for item in _safe]


def add_safe_globals(safe_globals):
    for item in safe_globals:
        _safe[item] = True


def clear_safe_globals():
    _safe.clear()


def get_safe_globals():
    return list(_safe)


class safe_globals:
    """with safe_globals([Config]): torch.load(f) reads a Config, too."""

    def __init__(self, safe_globals):
        self.safe_globals = safe_globals

    def __enter__(self):
        add_safe_globals(self.safe_globals)

    def __exit__(self, kind, value, trace):
        for item in self.safe_globals:
            _safe.pop(item, None)
