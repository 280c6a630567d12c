# SPDX-License-Identifier: MIT
# sys.version_info is a tuple with names.
import sys
from sys import version_info
print(version_info[0], version_info.major)
print(hasattr(sys, "version_info"), sys.version_info < (4,), sys.version_info[0] == 3, len(sys.version_info))
print(getattr(sys, "version_info")[:1])
print(sys.version_info.major, sys.version_info[:2] >= (3, 8), sys.version_info >= (3, 8), sys.version_info.minor >= 8)
a, b, *rest = sys.version_info
print(a, len(rest), sys.version_info.releaselevel)
