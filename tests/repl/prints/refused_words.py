# SPDX-License-Identifier: MIT
# What refuses a distributed tensor: shape functions have words of their own, and
# set_ has no rule.
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, Replicate, distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
mesh = init_device_mesh("cpu", (4,))


def says(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


ints = torch.ones(4, 4, dtype=torch.int64)
wide = torch.ones(4, 6)
for t in (ints, wide):
    x = distribute_tensor(t, mesh, [Replicate()])
    for f in (torch.linalg.cholesky, torch.inverse, torch.linalg.slogdet, lambda a: torch.linalg.solve(a, a)):
        says(lambda: f(x) is None)
        says(lambda: f(t) is None)
y = distribute_tensor(wide, mesh, [Shard(0)])
says(lambda: y.set_(y))
says(lambda: y.set_())
says(lambda: y.set_(wide))
