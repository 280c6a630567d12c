# SPDX-License-Identifier: MIT
"""torch.distributed.c10d_logger."""
import logging

_c10d_logger = logging.getLogger("torch.distributed")
_c10d_logger.addHandler(logging.NullHandler())
