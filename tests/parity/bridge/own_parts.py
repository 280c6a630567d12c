# SPDX-License-Identifier: MIT
# Each rank's own part is kept: nothing is sent (src_data_rank=None), in a call
# of the program and in those that context_parallel makes; and an operator that
# dtrepl does not have (resize_).
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.distributed.tensor.experimental import context_parallel

mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("cp",))
x = distribute_tensor(torch.arange(8.0), mesh, [Shard(0)], src_data_rank=None)
print((x * 2).to_local().shape)
q = torch.ones(1, 2, 8, 4)
with context_parallel(mesh, buffers=[q], buffer_seq_dims=[2]):
    print(q.shape)
