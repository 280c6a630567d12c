# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Views, indexing, reductions and sorting of sharded tensors.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

torch.manual_seed(5)
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
x = distribute_tensor(torch.randn(8, 4, 6), mesh, [Shard(0)])
a = x.view(8, 24).transpose(0, 1)[2:5]
b = x.permute(2, 0, 1).reshape(6, 32)
c = torch.stack([x, x]).amax((0, 1))
d = x.topk(2, dim=-1).values.sum()
e = torch.where(x > 0, x, x.zeros_like() if hasattr(x, "zeros_like")
                else torch.zeros_like(x)).cumsum(1)
i = distribute_tensor(torch.tensor([0, 3, 5]), mesh, [Replicate()])
f = x.index_select(0, i)
g = x.to(torch.bfloat16).float().std(dim=1)
x.add_(1).mul_(d.full_tensor().item())
