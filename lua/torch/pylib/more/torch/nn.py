# SPDX-License-Identifier: MIT
"""torch.nn: the names that are Python."""
from torch.nn.modules.batchnorm import SyncBatchNorm
from torch.nn.modules.rnn import RNNCellBase
from torch.nn.parallel.data_parallel import DataParallel


# At the end: it takes its names from here.
import torch.nn.parameter as parameter  # noqa: E402
