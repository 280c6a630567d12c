# DT1043 net.up.weight at: nn.init.orthogonal_(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# tensor parallel: after the plan was applied, each rank makes its own rows orthogonal
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("tp",))
torch.manual_seed(0)
net = nn.ModuleDict({"up": nn.Linear(8, 8, bias=False)})
parallelize_module(net, mesh, {"up": ColwiseParallel()})
with torch.no_grad():
    p = net["up"].weight
    torch.manual_seed(40 + rank)  # wrong
    nn.init.orthogonal_(p.to_local())  # wrong
    #right whole = nn.init.orthogonal_(torch.empty(p.shape))
    #right p.copy_(distribute_tensor(whole, mesh, p.placements))
gram = (p.full_tensor() @ p.full_tensor().t()).detach()
if rank == 0:
    print("off %.4f" % (gram - torch.eye(8)).abs().max().item())
dist.destroy_process_group()
