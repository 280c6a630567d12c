# SPDX-License-Identifier: MIT
"""typing: what is rarely asked."""
import collections.abc as _abc
import typing as _typing

AbstractSet = _typing.Set if not hasattr(_abc, "Set") else _abc.Set


def assert_type(val, typ, /):
    return val


def reveal_type(obj, /):
    import sys
    print(f"Runtime type is {type(obj).__name__!r}", file=sys.stderr)
    return obj


def no_type_check_decorator(decorator):
    return decorator
