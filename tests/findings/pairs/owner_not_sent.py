# DT1060 net[3].weight at: weights[rank].sub_(0.1 * weights[rank].grad)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(*[nn.Linear(6, 6, bias=False) for _ in range(world)])
weights = list(net.parameters())
for step in range(3):
    g = torch.Generator().manual_seed(10 * step + rank)
    loss = net(torch.randn(4, 6, generator=g)).square().mean()
    loss.backward()
    with torch.no_grad():
        # each rank updates one of them, with the sum of its gradients
        dist.reduce_scatter(weights[rank].grad, [p.grad for p in weights])
        weights[rank].grad /= world
        weights[rank].sub_(0.1 * weights[rank].grad)
        #right dist.all_gather(weights, weights[rank].clone())
    net.zero_grad()
total = loss.detach().clone()
dist.all_reduce(total)
print("result %.4f" % total.item())
dist.destroy_process_group()
