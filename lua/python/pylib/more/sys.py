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
