# SPDX-License-Identifier: MIT
"""test.support.os_helper: files of a test."""
import os
import unittest

TESTFN = TESTFN_ASCII = "@test_dtrepl_tmp"


def unlink(filename):
    try:
        os.unlink(filename)
    except OSError:
        pass


def temp_dir(*args, **kwargs):
    raise unittest.SkipTest("needs a folder of its own")


temp_cwd = change_cwd = temp_dir


class EnvironmentVarGuard:
    def __init__(self):
        raise unittest.SkipTest("needs the environment of the process")
