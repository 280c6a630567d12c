# SPDX-License-Identifier: MIT
# The names of a module of torch, and one that stands in place of its own.
from torch.distributed import *
from torch import distributed as dist


def get_world_size(group=None):
    return -dist.get_world_size(group)
