# DT1046 model.module[0].weight at: per_param[p].step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.nn.parallel import DistributedDataParallel as DDP
torch.manual_seed(12)
net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 10))
model = DDP(net)
per_param = {p: torch.optim.SGD([p], lr=0.1, momentum=0.9) for p in model.parameters()}
def step_now(p):
    per_param[p].step()
    per_param[p].zero_grad()
for p in model.parameters():  # wrong
    p.register_post_accumulate_grad_hook(step_now)  # wrong
g = torch.Generator().manual_seed(rank)
for it in range(4):
    x = torch.randn(6, 10, generator=g)
    loss = F.mse_loss(model(x), x.flip(1))
    loss.backward()
    #right for p in model.parameters():
        #right step_now(p)
val = loss.detach().clone()
dist.all_reduce(val)
print("loss %.5f" % (val.item() / world))
print("sum %.5f" % sum(p.detach().sum().item() for p in model.parameters()))
dist.destroy_process_group()
