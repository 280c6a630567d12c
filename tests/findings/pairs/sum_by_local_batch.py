# DT1150 aten.add_.Tensor at: loss = F.mse_loss(out, ys, reduction="sum") / n
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
from torch.distributed.tensor import distribute_module, distribute_tensor, init_device_mesh, Shard, Replicate

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("dp",))
torch.manual_seed(6)
net = distribute_module(nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 3)), mesh)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
for step in range(4):
    x = torch.randn(16, 5, generator=torch.Generator().manual_seed(step))
    y = x[:, :3].sin()
    xs, ys = distribute_tensor(x, mesh, [Shard(0)]), distribute_tensor(y, mesh, [Shard(0)])
    out = net(xs)
    n = out.to_local().shape[0]  # wrong
    #right n = out.shape[0]
    loss = F.mse_loss(out, ys, reduction="sum") / n
    opt.zero_grad()
    loss.backward()
    opt.step()
    val = loss.full_tensor().item()
    if dist.get_rank() == 0: print(step, "%.5f" % val)
