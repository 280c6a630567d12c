# SPDX-License-Identifier: MIT
# Numbers of the groups of a mesh with a dimension of size 1, and of the group
# that is made after it.
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (1, world), mesh_dim_names=("one", "all"))
for d in range(2):
    group = mesh.get_group(d)
    print(rank, d, group.group_name, group.size(), group.rank(), dist.get_process_group_ranks(group))
print(rank, "next", dist.new_group([0, 1]).group_name)
dist.destroy_process_group()
