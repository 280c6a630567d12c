# SPDX-License-Identifier: MIT
# The classes that fully_shard and replicate give modules.
import torch.distributed as dist
import torch.nn as nn
from torch.distributed._composable.replicate_with_fsdp import replicate
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("r",))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)


for wrap in (fully_shard, replicate):
    for m in (nn.Linear(4, 4), Net()):
        wrap(m, mesh=mesh)
        print(dist.get_rank(), type(m), type(m).__module__, type(m).__qualname__, isinstance(m, nn.Module))
        try:
            register_fsdp_forward_method(m, "encode")
        except ValueError as e:
            print(dist.get_rank(), e)
