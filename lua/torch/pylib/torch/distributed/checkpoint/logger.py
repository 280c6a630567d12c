# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.logger."""
import logging

_dcp_logger = logging.getLogger("torch.distributed.checkpoint")
_dcp_logger.addHandler(logging.NullHandler())
