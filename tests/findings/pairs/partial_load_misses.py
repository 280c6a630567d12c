# DT1051 new[0].weight at: dcp.load(state
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import os, tempfile
import torch, torch.nn as nn
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import DefaultLoadPlanner
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (2,))

def build(seed):
    torch.manual_seed(seed)
    m = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    fully_shard(m, mesh=mesh)
    return m

name = [tempfile.mkdtemp()]
dist.broadcast_object_list(name, src=0)
old = build(11)
dcp.save({"model." + k: v for k, v in old.state_dict().items()}, checkpoint_id=name[0])
new = build(12)
state = new.state_dict()  # wrong
#right state = {"model." + k: v for k, v in new.state_dict().items()}
dcp.load(state, checkpoint_id=name[0], planner=DefaultLoadPlanner(allow_partial_load=True))
new.load_state_dict({k.removeprefix("model."): v for k, v in state.items()})
opt = torch.optim.SGD(new.parameters(), lr=0.1)
torch.manual_seed(dist.get_rank())
for step in range(2):
    new(torch.randn(3, 4)).square().mean().backward()
    opt.step()
    opt.zero_grad()
print("result %.5f" % sum(p.full_tensor().square().sum() for p in new.parameters()).item())
