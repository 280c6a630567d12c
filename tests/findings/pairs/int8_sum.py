# DT1150 q at: dist.all_reduce(q)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


def compressed_mean(g):
    scale = g.abs().max()
    dist.all_reduce(scale, op=dist.ReduceOp.MAX)
    q = torch.round(g / scale * 127).to(torch.int8)
    #right q = q.to(torch.int32)
    dist.all_reduce(q)
    return q.float() * scale / 127 / world


torch.manual_seed(13)
model = nn.Sequential(nn.Linear(8, 24), nn.GELU(), nn.Linear(24, 5))
opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
inputs = torch.randn(40, 8)
labels = (inputs[:, 0] * 2).long().clamp(0, 4)
x, y = inputs.chunk(world)[rank], labels.chunk(world)[rank]
for step in range(5):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.grad = compressed_mean(p.grad)
    opt.step()
with torch.no_grad():
    logits = model(inputs)
    acc = (logits.argmax(-1) == labels).float().mean()
    final = F.cross_entropy(logits, labels)
if rank == 0:
    print("loss %.5f acc %.3f" % (final.item(), acc.item()))
dist.destroy_process_group()
