# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# the count of ranks is written in the program: one rank would take a quarter of the rows
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
torch.manual_seed(0)
net = nn.Linear(8, 8)
fully_shard(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(16, 8)
for step in range(3):
    loss = net(X[rank::4]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        s = torch.linalg.matrix_norm(net.weight.full_tensor(), 2)
        net.weight.to_local().div_(s.clamp(min=0.5))
w = net.weight.full_tensor()
if rank == 0:
    print("w %.5f" % w.norm().item())
dist.destroy_process_group()
