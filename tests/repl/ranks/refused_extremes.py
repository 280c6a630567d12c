# SPDX-License-Identifier: MIT
# argmax and argmin of types that no kernel takes: the local call refuses them
# where nothing is gathered, too.
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
for dtype in (torch.bool, torch.complex64):
    for placement in (Shard(0), Shard(1), Replicate()):
        x = distribute_tensor(torch.ones(4, 4).to(dtype), mesh, [placement])
        for f in (lambda: x.argmax(0), lambda: x.argmax(),
                  lambda: torch.argmin(x, 1)):
            try:
                print(dtype, placement, f())
            except Exception as e:
                print(dtype, placement, type(e).__name__, e)
dist.destroy_process_group()
