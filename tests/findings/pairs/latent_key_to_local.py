# DT1005 k_pe at: k_pe = k_pe.to_local()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(0)
D, H, R = 8, 4, 3

class Latent(nn.Module):
    def __init__(self):
        super().__init__()
        self.wk = nn.Parameter(distribute_tensor(torch.randn(H * R, D) * 0.3, mesh, [Shard(0)]))
        self.wpe = nn.Parameter(distribute_tensor(torch.randn(R, D) * 0.3, mesh, [Replicate()]))
        self.wo = nn.Parameter(distribute_tensor(torch.randn(D, H * R) * 0.3, mesh, [Shard(1)]))

    def forward(self, x):
        k_pe = x @ self.wpe.t()
        k_pe = k_pe.to_local()  # wrong
        #right k_pe = k_pe.to_local(grad_placements=[Partial()])
        k = (x @ self.wk.t()).to_local().unflatten(-1, (H // 2, R))
        k = torch.tanh(k + k_pe.unsqueeze(-2)).flatten(-2)
        k = DTensor.from_local(k, mesh, [Shard(1)])
        return (k @ self.wo.t()).redistribute(placements=[Replicate()])

m = Latent()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for step in range(3):
    x = distribute_tensor(torch.randn(6, D), mesh, [Replicate()])
    y = distribute_tensor(torch.randn(6, D), mesh, [Replicate()])
    loss = F.mse_loss(m(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
print("result %.5f" % m.wpe.to_local().square().sum().item())
