# DT1006 gram at: gram = DTensor.from_local(gram, w.device_mesh
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, distribute_tensor, distribute_module


def orthogonality(w):
    part = w.to_local()
    gram = part.t() @ part
    gram = DTensor.from_local(gram, w.device_mesh, [Replicate()])  # wrong
    #right gram = w.t() @ w
    return (gram - DTensor.from_local(torch.eye(w.size(1)), w.device_mesh, [Replicate()])).pow(2).sum()


def shard_weight(name, module, mesh):
    for key, p in module.named_parameters(recurse=False):
        module.register_parameter(key, nn.Parameter(distribute_tensor(p.detach(), mesh, [Shard(0)])))


mesh = init_device_mesh("cpu", (4,))
torch.manual_seed(0)
lin = distribute_module(nn.Linear(4, 8, bias=False), mesh, shard_weight)
opt = torch.optim.SGD(lin.parameters(), lr=0.05)
x = distribute_tensor(torch.randn(6, 4), mesh, [Replicate()])
for _ in range(3):
    loss = lin(x).pow(2).mean() + 0.1 * orthogonality(lin.weight)
    opt.zero_grad()
    loss.backward()
    opt.step()
    v = loss.full_tensor() if isinstance(loss, DTensor) else loss
    if dist.get_rank() == 0:
        print("%.5f" % v.item())
dist.destroy_process_group()
