# DT1043 aten.sort.default at: limit = torch.quantile(r.abs(), 0.8)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(5)
policy = nn.Linear(5, 3)
obs, adv = torch.randn(48, 5), torch.randn(48) * torch.linspace(0.2, 3, 48)
act = torch.randint(0, 3, (48,))
o, a, r = (t.chunk(world)[rank] for t in (obs, act, adv))
limit = torch.quantile(r.abs(), 0.8) # wrong
#right parts = [torch.empty_like(r) for _ in range(world)]
#right dist.all_gather(parts, r.contiguous())
#right limit = torch.quantile(torch.cat(parts).abs(), 0.8)
r = torch.minimum(torch.maximum(r, -limit), limit)
logp = F.log_softmax(policy(o), -1).gather(1, a.unsqueeze(1)).squeeze(1)
loss = -(logp * r).mean()
loss.backward()
for p in policy.parameters():
    dist.all_reduce(p.grad)
    p.grad /= world
print("result %.5f" % policy.weight.grad.abs().sum().item())
dist.destroy_process_group()
