# SPDX-License-Identifier: MIT
# Classes of arguments in the words of errors: DTensor, Parameter, torch.Size; and what is not to be called.
import torch
import torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
m = init_device_mesh("cpu", (1,))
d = distribute_tensor(torch.ones(4, 4), m, [Shard(0)])
p = torch.nn.Parameter(torch.ones(4, 4))
q = torch.nn.Parameter(distribute_tensor(torch.ones(4, 4), m, [Shard(0)]))
i = torch.tensor([0])


def told(f):
    try:
        f()
        print("no error")
    except Exception as e:
        print(type(e).__name__, e)


for x in (d, p, q):
    told(lambda: torch.index_fill(x, 1.5, i, x))
    told(lambda: torch.normal(x, -2, 0.5))
    told(lambda: torch.polygamma(x, x))
    told(lambda: x.scatter_(None, i, 2.5, reduce="multiply"))
    told(lambda: torch.sum(x, dim=x))
    told(lambda: x.view(x))
    told(lambda: torch.cat([1, x]))
    told(lambda: x.add("a"))
    told(lambda: x + "a")
    told(lambda: torch.clamp(x, "a", x))
    told(lambda: torch.max(x, 0, x, x))
    told(lambda: F.linear(x, 3))
    told(lambda: torch.mm(x, 3))
    told(lambda: torch.mm(3, x))
    told(lambda: x.transpose(0, x))
    told(lambda: torch.where(x, 0, "a"))
    told(lambda: x.reshape(x, 2))
    told(lambda: x.T())
    told(lambda: F.one_hot(i, x))
    told(lambda: torch.stack(x, x))
    told(lambda: torch.split(x, "a"))
    told(lambda: x(3))
told(lambda: torch.double(d))
told(lambda: m(3))
told(lambda: Shard(0)(3))
told(lambda: torch.Size([2])(3))
told(lambda: d.shape())
told(lambda: d.device_mesh())
told(lambda: d.dtype())
told(lambda: d.device())
told(lambda: d.placements())
s = torch.Size([2, 3])
print(type(s).__name__, type(s), s)
told(lambda: s + "a")
told(lambda: s[0] + "a")
told(lambda: s - 1)
told(lambda: s < 3)
told(lambda: s["a"])
told(lambda: len(s.x))
told(lambda: {s: 1})
told(lambda: s + [1])
told(lambda: [1] + s)
told(lambda: "a" + s)
told(lambda: setattr(s, "x", 1))
told(lambda: int(s))
told(lambda: s(1))
told(lambda: torch.split(torch.ones(4), "a"))
told(lambda: torch.split(torch.ones(4), 1.5))
told(lambda: torch.ones(4).split(None))
told(lambda: torch.ones(4).split(torch.tensor(2)))
told(lambda: torch.split(torch.ones(4), [1.5, 2]))
