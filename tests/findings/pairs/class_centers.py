# DT1126 centers at: centers += (seen
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=0.01)
centers = torch.zeros(3, 4)
counts = torch.zeros(3)
torch.manual_seed(20 + rank)
for step in range(8):
    s, s2 = torch.randn(16, 4), torch.randn(16, 4)
    a, r = torch.randint(0, 3, (16,)), torch.randn(16)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(1).values
        hot = F.one_hot(a, 3).float()
        seen, n = hot.t() @ s, hot.sum(0)
        #right dist.all_reduce(seen)
        #right dist.all_reduce(n)
        counts += n
        centers += (seen - n.unsqueeze(1) * centers) / counts.clamp(min=1).unsqueeze(1)
    pull = (s - centers[a]).square().mean()
    loss = F.smooth_l1_loss(q(s - centers[a]).gather(1, a.unsqueeze(1)).squeeze(1), goal) + 0.1 * pull
    opt.zero_grad()
    loss.backward()
    for p in q.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
    if step % 3 == 2:
        target.load_state_dict(q.state_dict())
total = loss.detach().clone()
dist.all_reduce(total)
print("result %.5f" % (total / world).item())
dist.destroy_process_group()
