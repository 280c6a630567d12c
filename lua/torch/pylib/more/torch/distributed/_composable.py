# SPDX-License-Identifier: MIT
"""torch.distributed._composable: parallelisms that are put on a module in
place, one after another."""
from torch.distributed._composable.contract import _get_registry, contract
from torch.distributed._composable.checkpoint_activation import checkpoint
from torch.distributed._composable.replicate import replicate
