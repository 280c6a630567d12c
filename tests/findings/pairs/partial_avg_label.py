# DT1150 y at: y = DTensor.from_local(y, mesh, [Partial("avg")], run_check=False)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

def row_parallel(x_part, w_part, mesh):
    """y = x @ w where the inner dimension lives on the ranks."""
    y = x_part @ w_part
    y = DTensor.from_local(y, mesh, [Partial("avg")], run_check=False)  # wrong
    #right y = DTensor.from_local(y, mesh, [Partial("sum")], run_check=False)
    return y.redistribute(placements=[Replicate()])

dist.init_process_group("gloo")
r, n = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (n,))
g = torch.Generator().manual_seed(3)
inputs = torch.randn(6, 16, generator=g)
weight = torch.randn(16, 5, generator=g) / 4
mine = slice(r * 16 // n, (r + 1) * 16 // n)
w = weight[:, :][mine].clone()
for it in range(2):
    y = row_parallel(inputs[:, mine], w, mesh).to_local()
    inputs = torch.tanh(torch.cat([y, inputs[:, :11]], 1))
if r == 0:
    print("out", [round(v, 4) for v in y[0].tolist()])
dist.destroy_process_group()
