# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.state_dict_loader."""
from torch.distributed.checkpoint import load, load_state_dict
