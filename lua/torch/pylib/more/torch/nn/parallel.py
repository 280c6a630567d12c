# SPDX-License-Identifier: MIT
"""torch.nn.parallel: the names that are Python."""
from torch.nn.parallel.data_parallel import DataParallel
