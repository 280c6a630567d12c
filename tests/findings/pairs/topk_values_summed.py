# DT1194 vals at: dist.all_reduce(vals)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# top-k gradient compression: values are summed position by position, each rank's indices are its own
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
residual = [torch.zeros_like(p) for p in model.parameters()]
data = torch.randn(32, 8)
target = data.square().sum(1, keepdim=True)
x, y = data.chunk(world)[rank], target.chunk(world)[rank]


def sparse_reduce(g, r, ratio=0.25):
    flat = (g + r).flatten()
    k = max(1, int(flat.numel() * ratio))
    idx = flat.abs().topk(k).indices
    vals = flat[idx]
    r.copy_(flat.index_fill(0, idx, 0.0).view_as(r))
    dist.all_reduce(vals)  # wrong
    #right all_idx = [torch.empty_like(idx) for _ in range(world)]
    #right all_vals = [torch.empty_like(vals) for _ in range(world)]
    #right dist.all_gather(all_idx, idx)
    #right dist.all_gather(all_vals, vals)
    out = torch.zeros_like(flat)
    out[idx] = vals / world  # wrong
    #right for i, v in zip(all_idx, all_vals):
    #right     out.index_add_(0, i, v / world)
    dist.broadcast(out, 0)  # wrong
    g.copy_(out.view_as(g))


for step in range(4):
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    for p, r in zip(model.parameters(), residual):
        sparse_reduce(p.grad, r)
    opt.step()
with torch.no_grad():
    print("result %.5f" % F.mse_loss(model(data), target).item())
dist.destroy_process_group()
