# SPDX-License-Identifier: MIT
"""test.support.import_helper: imports that skip a test where they fail."""
import importlib
import unittest


def import_module(name, deprecated=False, *, required_on=()):
    try:
        return importlib.import_module(name)
    except ImportError as msg:
        raise unittest.SkipTest(str(msg))


def import_fresh_module(name, fresh=(), blocked=(), deprecated=False):
    """A module that is Python's alone, and none where one in C is wanted."""
    if fresh and not blocked:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
