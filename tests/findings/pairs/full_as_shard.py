# DT1007 inputs at: x = DTensor.from_local(inputs, mesh, [Shard(0)])  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
from torch import nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(4)
model = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 3))
model = distribute_module(model, mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.02)
inputs = torch.randn(8, 6)
labels = torch.randint(0, 3, (8,))
for i in range(3):
    x = DTensor.from_local(inputs, mesh, [Shard(0)])  # wrong
    y = DTensor.from_local(labels, mesh, [Shard(0)])  # wrong
    #right x = DTensor.from_local(inputs.chunk(mesh.size())[mesh.get_local_rank()], mesh, [Shard(0)])
    #right y = DTensor.from_local(labels.chunk(mesh.size())[mesh.get_local_rank()], mesh, [Shard(0)])
    logits = model(x)
    loss = (logits.logsumexp(-1) - (logits * nn.functional.one_hot(y, 3)).sum(-1)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    value = loss.full_tensor().item()
    if dist.get_rank() == 0:
        print(f"{i}: {value:.4f}")
