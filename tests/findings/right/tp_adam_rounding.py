# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, distribute_module
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
rank = dist.get_rank()
torch.manual_seed(4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 8); self.b = nn.Linear(8, 6); self.drop = nn.Dropout(0.3); self.ln = nn.LayerNorm(6)
    def forward(self, x): return self.ln(self.drop(self.b(torch.relu(self.a(x)))) + x)
net = Net()
parallelize_module(net, mesh, {"a": ColwiseParallel(), "b": RowwiseParallel()})
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
data = [torch.randn(4, 6) for _ in range(3)]
torch.manual_seed(4)
for x in data:
    loss = (net(x) - x).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
s = net.ln.weight.square().sum() + net.a.weight.full_tensor().square().sum()
if rank == 0: print("result %.6f" % s.item())
