# SPDX-License-Identifier: MIT
# A spec's maps of dims, where one dim is cut twice.
import torch, os
import torch.distributed as dist
from torch.distributed.tensor import *
from torch.distributed.device_mesh import init_device_mesh
dist.init_process_group("gloo")
m = init_device_mesh("cpu", (1, 2))
x = distribute_tensor(torch.ones(8, 4), m, [Shard(0), Shard(0)])
s = x._spec
for f in (lambda: s.num_shards_map, lambda: s.dim_map, lambda: s.sums, lambda: s.dim_map, lambda: str(s), lambda: s.is_sharded(), lambda: s.is_replicated(), lambda: s.stride, lambda: hash(s) == hash(s), lambda: s.num_shards, lambda: s.device_mesh.shape):
    try: r = f()
    except Exception as e: r = type(e).__name__ + ": " + str(e)
    if dist.get_rank() == 0: print(r)
