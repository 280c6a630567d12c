# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# gradient compression done right: int8 with one scale for all, top-k with its own indices, error feedback
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
params = list(model.parameters())
opt = torch.optim.SGD(params, lr=0.05, momentum=0.9)
error = {p: torch.zeros_like(p) for p in params}


def int8_mean(g):
    top = g.abs().max()
    dist.all_reduce(top, op=dist.ReduceOp.MAX)
    scale = top.clamp(min=1e-12) / 31
    q = (g / scale).round().clamp(-31, 31).to(torch.int8)
    back = q.float() * scale
    dist.all_reduce(q)
    return q.float() * scale / world, g - back


def random_k_mean(g, step):
    gen = torch.Generator().manual_seed(1234 + step)
    idx = torch.randperm(g.numel(), generator=gen)[: max(1, g.numel() // 4)]
    vals = g.flatten()[idx]
    rest = g.flatten().index_fill(0, idx, 0.0).view_as(g)
    dist.all_reduce(vals)
    out = torch.zeros(g.numel())
    out[idx] = vals / world
    return out.view_as(g), rest


def top_k_mean(g):
    flat = g.flatten()
    idx = flat.abs().topk(max(1, flat.numel() // 4)).indices
    vals = flat[idx]
    rest = flat.index_fill(0, idx, 0.0).view_as(g)
    all_v, all_i = torch.empty(world * len(vals)), torch.empty(world * len(vals), dtype=torch.long)
    dist.all_gather_into_tensor(all_v, vals)
    dist.all_gather_into_tensor(all_i, idx)
    return torch.zeros_like(flat).index_add_(0, all_i, all_v / world).view_as(g), rest


gen = torch.Generator().manual_seed(60 + rank)
for step in range(6):
    x = torch.randn(16, 8, generator=gen)
    opt.zero_grad()
    loss = F.mse_loss(model(x), x.cumsum(1))
    loss.backward()
    for p in params:
        g = p.grad + error[p]
        mean, rest = int8_mean(g) if step % 3 == 0 else random_k_mean(g, step) if step % 3 == 1 else top_k_mean(g)
        error[p].copy_(rest)
        p.grad.copy_(mean)
    opt.step()
    if rank == 0:
        print("step %d %.4f" % (step, loss.item()))
dist.destroy_process_group()
