# SPDX-License-Identifier: MIT
"""unittest: tests of a class, found by name and run one by one on all ranks.

The ranks meet after every test: a test is ok when it is on each of them.
"""
import _absent
from unittest.case import (TestCase, SkipTest, skip, skipIf, skipUnless,
                           expectedFailure, addModuleCleanup)
from unittest.runner import (main, TestLoader, TestResult, TestSuite,
                             TextTestRunner, defaultTestLoader)


class FunctionTestCase(TestCase):
    """A function as a test."""

    def __init__(self, testFunc, setUp=None, tearDown=None):
        self.runTest = testFunc
        super().__init__("runTest")


class IsolatedAsyncioTestCase:
    """There is no event loop here."""

    def __init__(self, *args):
        raise _absent.error("unittest.IsolatedAsyncioTestCase is not "
                            "part of dtrepl: async is not")
