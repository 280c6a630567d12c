# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
world = dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Shard, distribute_tensor
mesh = init_device_mesh("cpu", (4,))
w, b = torch.randn(8, 16), torch.randn(8)
x = torch.randn(4, 16)
dx = distribute_tensor(x, mesh, [Shard(1)])
dw = distribute_tensor(w, mesh, [Shard(1)])
y = dx.to_local() @ dw.to_local().t() + b / world
out = DTensor.from_local(y, mesh, [Partial()])
print("result %.5f" % out.full_tensor().square().sum().item())
