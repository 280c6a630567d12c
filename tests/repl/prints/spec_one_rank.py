# SPDX-License-Identifier: MIT
# A spec over two dimensions of a mesh, each of one rank.
import os
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor._dtensor_spec import DTensorSpec

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29587")
os.environ.setdefault("RANK", "0")
os.environ.setdefault("WORLD_SIZE", "1")
mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
x = torch.ones(4, 6, 2)
for placements in ([Shard(1), Replicate()], [Shard(0), Shard(0)], [Shard(2), Shard(0)]):
    spec = distribute_tensor(x, mesh, placements)._spec
    print(spec.num_shards_map, spec.num_shards, spec.sums)
    if placements[0] != placements[1]:
        print(spec.dim_map)
torch.distributed.destroy_process_group()
