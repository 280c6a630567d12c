# SPDX-License-Identifier: MIT
"""sys: the names that are Python."""
from collections import namedtuple

_version = namedtuple("version_info", "major minor micro releaselevel serial")
version_info = _version(3, 11, 0, "final", 0)
