# SPDX-License-Identifier: MIT
from ..needs import there

value = there + 1
