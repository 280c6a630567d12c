# DT1188 0.weight at: dcp.save(state_of(net), checkpoint_id=path[0])
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import tempfile
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import torch.distributed.checkpoint as dcp
from torch.distributed.fsdp import fully_shard
torch.manual_seed(4)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
fully_shard(net)
path = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(path, src=0)
def state_of(net):
    return {k: v.to_local() for k, v in net.state_dict().items()}  # wrong
    #right return net.state_dict()
dcp.save(state_of(net), checkpoint_id=path[0])
x = torch.randn(3, 8)
before = net(x).sum().item()
with torch.no_grad():
    for p in net.parameters(): p.zero_()
dcp.load(state_of(net), checkpoint_id=path[0])
print("out %.5f %.5f" % (before, net(x).sum().item()))
