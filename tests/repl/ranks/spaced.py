# SPDX-License-Identifier: MIT
# linspace and logspace of torch.distributed.tensor: each rank its own part.
import torch
import torch.distributed as dist
import torch.distributed.tensor as dt
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard

mesh = init_device_mesh("cpu", (2,))


def show(name, f):
    try:
        t = f()
        print(name, dist.get_rank(), t.placements, tuple(t.shape), t.dtype,
              t.requires_grad, t.to_local().tolist())
    except Exception as e:
        text = str(e).split("\n")[0]
        print(name, dist.get_rank(), type(e).__name__, text)


for pl in ([Shard(0)], [Replicate()], [Partial()], None):
    show("five", lambda: dt.linspace(0, 2.0, 5, device_mesh=mesh,
                                     placements=pl))
    show("powers", lambda: dt.logspace(0.0, 4.0, 5, base=2.0,
                                       device_mesh=mesh, placements=pl))
show("one", lambda: dt.linspace(3.0, 9.0, 1, device_mesh=mesh,
                                placements=[Shard(0)]))
show("none", lambda: dt.linspace(3.0, 9.0, 0, device_mesh=mesh,
                                 placements=[Shard(0)]))
show("grad", lambda: dt.linspace(torch.tensor(1.0), 3, 4, requires_grad=True,
                                 dtype=torch.float64, device_mesh=mesh,
                                 placements=[Shard(0)]))
show("ints", lambda: dt.logspace(0, 3, 4, dtype=torch.int64, device_mesh=mesh,
                                 placements=[Shard(0)]))
show("vector", lambda: dt.linspace(torch.ones(2), 3, 4, device_mesh=mesh))
show("below", lambda: dt.linspace(0, 3, -1, device_mesh=mesh))
show("two", lambda: dt.linspace(0, 3, 4, device_mesh=mesh,
                                placements=[Shard(0), Replicate()]))
show("device", lambda: dt.linspace(0, 3, 4, device="cpu", device_mesh=mesh))
