# SPDX-License-Identifier: MIT
"""torch.distributed.tensor._api."""
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import (
    DTensor, Replicate, Shard, Partial, Placement, distribute_module,
    distribute_tensor, empty, full, ones, rand, randn, zeros)


def _shard_tensor(full_tensor, placements, device_mesh=None):
    """Each rank keeps its part of what all of them have: nothing is sent."""
    return distribute_tensor(full_tensor, device_mesh, placements,
                             src_data_rank=None)
