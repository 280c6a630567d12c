# DT1189 again[0].weight at: again.load_state_dict(state)
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
def make():
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    fully_shard(net)
    return net
torch.manual_seed(rank + 40)
def train(net, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        x = torch.randn(6, 8)
        loss = net(x).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
path = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(path, src=0)
torch.manual_seed(4)
net = make()
torch.manual_seed(rank + 40)
train(net, 3)
dcp.save({"model": net.state_dict()}, checkpoint_id=path[0])
torch.manual_seed(4)
again = make()
torch.manual_seed(rank + 80)
state = {k: torch.empty_like(v, dtype=torch.bfloat16) for k, v in again.state_dict().items()}  # wrong
#right state = {k: torch.empty_like(v) for k, v in again.state_dict().items()}
dcp.load({"model": state}, checkpoint_id=path[0])
again.load_state_dict(state)
train(again, 3)
print("w %.6f" % again[0].weight.full_tensor().sum().item())
