# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
gen = torch.Generator().manual_seed(99)
pretrained = {k: torch.randn(v.shape, generator=gen) for k, v in net.state_dict().items()}
if rank == 0:
    net.load_state_dict(pretrained)
state = net.state_dict()
fully_shard(net)        # what each rank cut is written over
set_model_state_dict(net, state, options=StateDictOptions(
    full_state_dict=True, broadcast_from_rank0=True))
opt = torch.optim.SGD(net.parameters(), lr=0.02)
data, goal = torch.randn(16, 6), torch.randn(16, 4)
for step in range(2):
    opt.zero_grad()
    F.mse_loss(net(data.chunk(world)[rank]), goal.chunk(world)[rank]).backward()
    opt.step()
s = sum(p.detach().full_tensor().square().sum() for p in net.parameters())
print("result %.5f" % s.item())
