# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.StepLR(opt, 1, .5)
X, Y = torch.randn(40, 6), torch.randint(0, 3, (40,))
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
best = 1e9
for e in range(3):
    perm = torch.randperm(10)
    for b in perm.split(5):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[b]), y[b])
        loss.backward()
        for p in net.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    sched.step()
    with torch.no_grad():
        s = torch.stack([F.cross_entropy(net(x), y, reduction="sum"), (net(x).argmax(-1) == y).sum().float(), torch.tensor(float(len(y)))])
    dist.all_reduce(s)
    if s[0] < best:
        best = s[0].item()
        state = {k: v.clone() for k, v in net.state_dict().items()}
net.load_state_dict(state)
if rank == 0: print("%.5f" % best)
