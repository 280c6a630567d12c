# SPDX-License-Identifier: MIT
"""packaging: what programs compare torch.__version__ by."""
from packaging import version
