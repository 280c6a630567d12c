# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Partial sums: made locally, moved, reduced.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
p = DTensor.from_local(torch.full((4, 4), 2.0), mesh,
                       [Partial(), Shard(1)], run_check=False)
q = p + p
r = q.redistribute(mesh, [Shard(0), Replicate()])
m = DTensor.from_local(torch.eye(4), mesh, [Partial("max"), Replicate()],
                       run_check=False)
print(r.full_tensor().shape, m.relu().placements, (q * 3).placements)
