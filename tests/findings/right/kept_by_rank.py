# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# What each rank keeps for itself, and may: the error of its own compressed
# gradients, a buffer of its own samples, a table of its own confusions, the
# momentum of the part that it updates.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(8, 4, bias=False)
error = torch.zeros(4, 8)
replay, at = torch.zeros(32, 8), 0
table = torch.zeros(4, 4)
momentum = torch.zeros(1, 8)
torch.manual_seed(20 + rank)
for step in range(5):
    fresh = torch.randn(8, 8)
    replay[at:at + 8] = fresh
    at = (at + 8) % 32
    x = torch.cat([fresh, replay[:8]])
    y = x[:, :4].argmax(1)
    out = net(x)
    loss = F.cross_entropy(out, y)
    net.zero_grad()
    loss.backward()
    table.index_put_((y, out.argmax(1)), torch.ones(16), accumulate=True)
    with torch.no_grad():
        whole = net.weight.grad + error
        sent = whole.sign() * whole.abs().mean()
        error.copy_(whole - sent)
        dist.all_reduce(sent)
        mine = sent.chunk(world)[rank] / world
        momentum.mul_(0.9).add_(mine)
        part = net.weight.chunk(world)[rank] - 0.1 * momentum
        parts = [torch.empty_like(part) for _ in range(world)]
        dist.all_gather(parts, part.contiguous())
        net.weight.copy_(torch.cat(parts))
    if step % 2:
        seen = (table.diag().sum() / table.sum()).item()
dist.all_reduce(table)
print("seen %d" % table.sum().item())
dist.destroy_process_group()
