# SPDX-License-Identifier: MIT
import torch
import torch.distributed as dist
from torch.distributed.tensor import distribute_tensor, init_device_mesh, Shard, Replicate
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
t = torch.tensor(1.5)
v = torch.arange(3.)
d = distribute_tensor(torch.arange(4.), mesh, [Shard(0)])
s = d.sum()
print(f"{t} {v} {t:.3f} {t!r} {v!s}")
print(f"{s}")
print(f"{s.full_tensor()} {s.full_tensor().item():.2f}")
print(f"{d}")
print("%s %s" % (t, v), "{} {}".format(t, v), str(t), repr(t))
print(s)
print(f"{t=} {v.shape} {v.dtype} {mesh} {d.placements}")
print(f"{torch.tensor(3)} {torch.tensor(True)} {torch.tensor(2.0, dtype=torch.bfloat16)}")
a, b, c = torch.tensor([[1., 5., 2.], [3., 4., 9.]]), torch.zeros(3), torch.zeros(3, dtype=torch.int64)
r = torch.max(a, 0, out=(b, c))
print(r[0] is b, b, c, torch.max(a), torch.max(a, 1).values, torch.min(a, a).shape)
print(torch.result_type(a, c), torch.result_type(c, 1.5), torch.result_type(c, torch.tensor(1, dtype=torch.int32)))
x = [torch.ones(2)]
print(torch._foreach_add_(x, [torch.ones(2)])[0] is x[0], x)
z = torch.complex(torch.ones(2), torch.ones(2))
print(z.real, z.imag, a.real is a)
