# DT1041 dtensor.from_local at: y = mixed(x, w)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# local_map around a custom kernel: rows in, rows out, but the result is declared as columns
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import local_map

mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
torch.manual_seed(3)
N = 8


def swiglu(x, w):
    a, b = (x @ w).chunk(2, dim=-1)
    return F.silu(a) * b


mixed = local_map(
    swiglu,
    out_placements=[Shard(1)],  # wrong
    #right out_placements=[Shard(0)],
    in_placements=([Shard(0)], [Replicate()]),
    in_grad_placements=([Shard(0)], [Partial()]),
    device_mesh=mesh,
)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(distribute_tensor(torch.randn(N, 2 * N) * 0.3, mesh, [Replicate()]))
        self.head = nn.Parameter(distribute_tensor(torch.randn(N, 1) * 0.3, mesh, [Replicate()]))

    def forward(self, x):
        w = self.w
        y = mixed(x, w)
        return y[:, :N] @ self.head if y.shape[1] != N else y @ self.head


model = Block()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
gen = torch.Generator().manual_seed(5)
for step in range(3):
    x = distribute_tensor(torch.randn(N, N, generator=gen), mesh, [Shard(0)])
    out = model(x)
    loss = (out.full_tensor() - 1.0).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
if dist.get_rank() == 0:
    print("loss %.6f" % loss.item(), tuple(out.shape))
dist.destroy_process_group()
