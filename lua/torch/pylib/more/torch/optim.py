# SPDX-License-Identifier: MIT
"""torch.optim: its modules that are Python's, read when they are named."""
import torch.optim.lr_scheduler as lr_scheduler
import torch.optim.swa_utils as swa_utils
