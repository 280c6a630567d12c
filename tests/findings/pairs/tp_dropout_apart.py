# DT1005 dtensor.to_local_backward at: return self.out(x + self.drop
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
rank = dist.get_rank()
torch.manual_seed(21)

class Block(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(d, 3)

    def forward(self, x):
        return self.out(x + self.drop(self.down(F.gelu(self.up(x)))))

m = Block()
parallelize_module(m, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
opt = torch.optim.SGD(m.parameters(), lr=0.1, foreach=False)
data, target = torch.randn(3, 8, 6), torch.randn(3, 8, 3)
torch.manual_seed(100 + rank)  # wrong
#right torch.manual_seed(100)
for step in range(3):
    F.mse_loss(m(data[step]), target[step]).backward()
    opt.step()
    opt.zero_grad()
print("result %.5f" % m.out.weight.square().sum().item())
