# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# each rank's rows become one entry of a new dimension: blocks for attention within blocks
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import local_map

mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("cp",))
torch.manual_seed(0)
rows, w = torch.randn(8, 6), torch.randn(6, 6)
x = distribute_tensor(rows, mesh, [Shard(0)])
kernel = distribute_tensor(w, mesh, [Replicate()])


def block_scores(a, w):
    q = a @ w
    return (q @ a.t()).softmax(-1).unsqueeze(0)


blocks = local_map(block_scores, out_placements=[Shard(0)],
                   in_placements=([Shard(0)], [Replicate()]), device_mesh=mesh)(x, kernel)
assert blocks.shape == (4, 2, 2)
assert torch.allclose(blocks.full_tensor()[1], ((rows[2:4] @ w) @ rows[2:4].t()).softmax(-1),
                      atol=1e-6)

# The ranks' projections beside each other in a last dimension of their own.
beside = DTensor.from_local((x.to_local() @ w)[..., None], mesh, [Shard(2)])
assert beside.shape == (2, 6, 4)
assert torch.allclose(beside.full_tensor()[..., 3], rows[6:] @ w, atol=1e-6)
# Rows of a rank are one block of a batch.
batch = DTensor.from_local(x.to_local().reshape(1, 2, 6), mesh, [Shard(0)])
assert torch.equal(batch.full_tensor(), rows.view(4, 2, 6))
print("ok")
dist.destroy_process_group()
