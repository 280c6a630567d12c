# SPDX-License-Identifier: MIT
"""torch._inductor: settings of a compiler that is not here."""
from torch._dynamo import _Config

config = _Config()
