# SPDX-License-Identifier: MIT
from .no_such_file import something
