# SPDX-License-Identifier: MIT
from torch.distributions import Uniform
