# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.state_dict_saver."""
from torch.distributed.checkpoint import (AsyncCheckpointerType, async_save, save,
                                          save_state_dict)
