# SPDX-License-Identifier: MIT
"""torch.amp: the names that are Python."""
from torch.amp.autocast_mode import custom_bwd, custom_fwd
