# DT1058 g at: dist.all_reduce(g, group=group)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replica", "shard"))

def sync_replicas(model):
    group = mesh.get_group("replica")
    for p in model.parameters():
        if p.grad is not None:
            g = p.grad.to_local()
            dist.all_reduce(g, group=group)
            #right g /= mesh["replica"].size()

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(7, 14), nn.Mish(), nn.Linear(14, 7), nn.Mish(), nn.Linear(7, 2))
for m in model:
    if isinstance(m, nn.Linear):
        fully_shard(m, mesh=mesh["shard"])
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
torch.manual_seed(1000 + dist.get_rank())
for step in range(4):
    x = torch.randn(5, 7)
    y = torch.stack([x.mean(1), x.std(1)], 1)
    loss = nn.functional.smooth_l1_loss(model(x), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    sync_replicas(model)
    opt.step()
    l = loss.detach().clone(); dist.all_reduce(l)
    if dist.get_rank() == 0: print(step, round(l.item() / 4, 5))
