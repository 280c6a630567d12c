# SPDX-License-Identifier: MIT
"""sys: the names that are Python."""
from collections import namedtuple

_version = namedtuple("version_info", "major minor micro releaselevel serial")
version_info = _version(3, 11, 0, "final", 0)


class _Implementation:
    """sys.implementation: what programs that are written for CPython ask."""
    name, cache_tag = "cpython", "cpython-311"
    version, hexversion = version_info, 0x030b00f0


implementation = _Implementation()
prefix = base_prefix = exec_prefix = base_exec_prefix = "/usr"
platlibdir, abiflags, float_repr_style = "lib", "", "short"
warnoptions, dont_write_bytecode, orig_argv = [], False, []
meta_path, path_hooks, path_importer_cache = [], [], {}


def intern(string, /):
    if not isinstance(string, str):
        raise TypeError("intern() argument must be str, not "
                        + type(string).__name__)
    return string


def is_finalizing():
    return False


def getswitchinterval():
    return 0.005


def setswitchinterval(interval, /):
    if interval <= 0:
        raise ValueError("switch interval must be strictly positive")


def getfilesystemencodeerrors():
    return "surrogateescape"


def exception():
    import sys
    return sys.exc_info()[1]


def audit(event, /, *args):
    pass


def displayhook(value, /):
    import builtins
    if value is not None:
        builtins._ = None
        print(repr(value))
        builtins._ = value
