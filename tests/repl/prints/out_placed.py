# SPDX-License-Identifier: MIT
# out= of normal and scatter_reduce, and which overload is named where one has no
# strategy.
import torch, torch.distributed as dist
from torch.distributed.tensor import distribute_tensor, init_device_mesh, Shard, Replicate
x = torch.zeros(2, 3)
i = torch.zeros(2, 3, dtype=torch.int64)
d = torch.float64
for n, f in enumerate((
    lambda: torch.normal(x, 0., out=torch.ones(2, 3)), lambda: torch.normal(x, x, out=torch.ones(2, 3)),
    lambda: torch.normal(0., x, out=torch.ones(2, 3)), lambda: torch.normal(mean=x, std=0., out=torch.ones(2, 3, dtype=d)),
    lambda: torch.normal(x.double(), 0., out=torch.ones(2, 3)), lambda: torch.normal(0., 0., (2,), out=torch.ones(2)),
    lambda: torch.normal(0., 0., (2,), dtype=d, out=torch.ones(2)), lambda: torch.randperm(1, dtype=d, out=torch.ones(1)),
    lambda: torch.scatter_reduce(x, 0, i, x + 1, "sum", out=torch.zeros(2, 3)),
    lambda: torch.scatter_reduce(x, 0, i, x + 1, "prod", include_self=False, out=torch.zeros(2, 3)),
    lambda: torch.scatter_reduce(x, 0, i, x + 1, "sum", out=torch.zeros(2, 3, dtype=d)))):
    try:
        r = f(); print(n, r.dtype, r.tolist())
    except (RuntimeError, TypeError) as e:
        print(n, type(e).__name__, str(e).split("\n")[0])
dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
m = init_device_mesh("cpu", (dist.get_world_size(),))
t = distribute_tensor(torch.arange(8.), m, [Shard(0)])
for n, f in enumerate((
    lambda: torch.unique(t, dim=None), lambda: torch.unique(t), lambda: torch.unique(t, dim=0),
    lambda: torch.unique(t, True, False, False, 0),
    lambda: torch.histogram(t, t), lambda: torch.histogram(t, 4), lambda: torch.histogram(t, bins=t),
    lambda: t.to_sparse(1), lambda: t.to_sparse(), lambda: torch.scatter_reduce(t, 0, i[0], x[0], "sum", out=t),
    lambda: torch.scatter_reduce(t, 0, t.long(), t, "sum", out=t), lambda: torch.normal(t, t, out=t))):
    try:
        r = f(); print(n, getattr(r, "shape", r))
    except (RuntimeError, NotImplementedError) as e:
        print(n, type(e).__name__, str(e).split("\n")[0][:150])
