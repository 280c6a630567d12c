# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 5)
accum = 4
x = torch.randn(64, 6).chunk(world)[rank]
for step in range(3):
    opt.zero_grad(set_to_none=True)
    total = 0.
    for xb in x.chunk(accum):
        loss = model(xb).pow(2).mean() / accum
        loss.backward()
        total += loss.item()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    n = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step(); sched.step()
    t = torch.tensor(total)
    dist.all_reduce(t, op=dist.ReduceOp.AVG)
