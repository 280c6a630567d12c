# SPDX-License-Identifier: MIT
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol

# What an exchange gives has a type of its own until it is waited for.
dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
x = funcol.all_reduce(torch.ones(2), "sum", dist.group.WORLD)
print(type(x).__name__, isinstance(x, torch.Tensor), isinstance(x, funcol.AsyncCollectiveTensor))
print(type(x.wait()).__name__, type(x + 1).__name__, x + 1)
try:
    torch.distributed(1)
except TypeError as e:
    print(e)
dist.destroy_process_group()
