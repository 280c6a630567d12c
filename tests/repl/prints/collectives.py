# SPDX-License-Identifier: MIT
# What collectives refuse.
import torch
import torch.distributed as dist
dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
for out, t in (((3,), (1,)), ((4, 2), (2,)), ((2,), (2,)), ((2, 2), (2, 1))):
    try:
        dist.all_gather_into_tensor(torch.empty(out), torch.ones(t))
        print(out, t, "fine")
    except RuntimeError as e:
        print(out, t, str(e).split("\n")[0])
