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
