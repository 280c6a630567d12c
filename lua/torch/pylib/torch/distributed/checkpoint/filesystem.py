# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.filesystem."""
from torch.distributed.checkpoint import FileSystemReader, FileSystemWriter
