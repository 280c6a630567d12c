# SPDX-License-Identifier: MIT
"""test.support.threading_helper: there are no threads; tests of them skip."""
import unittest

can_start_thread = False


def requires_working_threading(*, module=False):
    if module:
        raise unittest.SkipTest("needs threads")
    return unittest.skip("needs threads")


def reap_threads(test):
    return unittest.skip("needs threads")(test)


def start_threads(threads, unlock=None):
    raise unittest.SkipTest("needs threads")
