# DT1183 load at: dcp.load(state, checkpoint_id=where[0])
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import tempfile
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.checkpoint.state_dict import (get_model_state_dict,
    get_optimizer_state_dict, set_model_state_dict, set_optimizer_state_dict)
mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))
where = [tempfile.mkdtemp()] if rank == 0 else [None]
dist.broadcast_object_list(where, 0)
def build():
    torch.manual_seed(4)
    net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
    fully_shard(net, mesh=mesh)
    return net, torch.optim.AdamW(net.parameters(), lr=0.01)
def run(net, opt, steps):
    for s in steps:
        g = torch.Generator().manual_seed(1000 * s + rank)
        x, y = torch.randn(5, 8, generator=g), torch.randint(0, 3, (5,), generator=g)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss
model, opt = build()
run(model, opt, range(3))
dcp.save({"model": get_model_state_dict(model),
          "optim": get_optimizer_state_dict(model, opt)}, checkpoint_id=where[0])
model, opt = build()
state = {"model": get_model_state_dict(model)}  # wrong
#right state = {"model": get_model_state_dict(model), "optim": get_optimizer_state_dict(model, opt)}
dcp.load(state, checkpoint_id=where[0])
set_model_state_dict(model, state["model"])
#right set_optimizer_state_dict(model, opt, state["optim"])
loss = run(model, opt, range(3, 6))
dist.all_reduce(loss.detach().div_(world))
s = sum(p.detach().full_tensor().abs().sum().item() for p in model.parameters())
print("resumed %.5f" % s)
dist.destroy_process_group()
