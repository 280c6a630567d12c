# DT1064 aten.mul_.Tensor at: shard.grad.mul_((0.1 / (norm.sqrt() + 1e-6)).clamp(max=1.0))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# the optimizer's state cut into flat shards by hand (ZeRO 1)
import torch, torch.nn as nn, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
flat = torch.nn.utils.parameters_to_vector(net.parameters()).detach()
pad = (-flat.numel()) % w
flat = torch.cat([flat, flat.new_zeros(pad)])
shard = flat.chunk(w)[r].clone().requires_grad_()
opt = torch.optim.Adam([shard], lr=0.01)
torch.manual_seed(100 + r)
for step in range(3):
    x = torch.randn(8, 6) * 4
    y = (x.sum(1) > 0).long()
    loss = nn.functional.cross_entropy(net(x), y)
    net.zero_grad()
    loss.backward()
    g = torch.cat([p.grad.flatten() for p in net.parameters()] + [torch.zeros(pad)])
    out = torch.empty_like(shard)
    dist.reduce_scatter_tensor(out, g, op=dist.ReduceOp.SUM)
    shard.grad = out / w
    norm = shard.grad.square().sum()
    #right dist.all_reduce(norm)
    shard.grad.mul_((0.1 / (norm.sqrt() + 1e-6)).clamp(max=1.0))
    opt.step()
    full = torch.empty_like(flat)
    dist.all_gather_into_tensor(full, shard.detach())
    torch.nn.utils.vector_to_parameters(full[:flat.numel() - pad], net.parameters())
    if r == 0: print(f"{loss.item():.4f}")
