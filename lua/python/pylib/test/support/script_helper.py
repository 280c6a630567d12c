# SPDX-License-Identifier: MIT
"""test.support.script_helper: there are no other processes."""
import unittest


def _refuse(*args, **kwargs):
    raise unittest.SkipTest("needs another process")


assert_python_ok = assert_python_failure = spawn_python = _refuse
make_script = make_pkg = run_python_until_end = _refuse
