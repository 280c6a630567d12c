# DT1081 model[2].bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# gradient accumulation over micro-batches, loss not divided
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
accum = 4
data = torch.randn(64, 6)
target = data.sum(1, keepdim=True)
x, y = data.chunk(world)[rank], target.chunk(world)[rank]
for step in range(3):
    opt.zero_grad()
    for xb, yb in zip(x.chunk(accum), y.chunk(accum)):
        loss = F.mse_loss(model(xb), yb)  # wrong
        #right loss = F.mse_loss(model(xb), yb) / accum
        loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
        p.grad.div_(world)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
print("result %.5f" % loss.item())
