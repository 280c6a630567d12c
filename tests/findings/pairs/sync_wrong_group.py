# DT1047 net[2].bias at: dist.all_reduce(p.grad, group=group)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group(backend="gloo")
RANK = dist.get_rank()
WORLD = dist.get_world_size()
SHARD = 1            # one rank holds the whole model
shard_groups = [dist.new_group(list(range(i, i + SHARD))) for i in range(0, WORLD, SHARD)]
replica_groups = [dist.new_group(list(range(i, WORLD, SHARD))) for i in range(SHARD)]
shard_group = shard_groups[RANK // SHARD]
replica_group = replica_groups[RANK % SHARD]

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def sync_grads(module):
    group = shard_group  # wrong
    #right group = replica_group
    for p in module.parameters():
        dist.all_reduce(p.grad, group=group)
        p.grad.div_(dist.get_world_size(group))


g = torch.Generator().manual_seed(100 + RANK)
for it in range(4):
    x = torch.randn(6, 5, generator=g)
    y = x[:, :3].sin()
    loss = (net(x) - y).square().mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    sync_grads(net)
    opt.step()

if RANK == 0:
    probe = torch.linspace(-1, 1, 5)
    print("probe", ["%.4f" % v for v in net(probe).tolist()])
