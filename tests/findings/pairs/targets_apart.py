# DT1177 yb at: perm = torch.randperm(len(t))  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

features = torch.randn(48, 5)
labels = features[:, :3].argmax(1)


def shard(t, epoch):
    #right g = torch.Generator().manual_seed(epoch)
    #right perm = torch.randperm(len(t), generator=g)
    perm = torch.randperm(len(t))  # wrong
    per = len(t) // world
    return t[perm][rank * per:(rank + 1) * per]


for epoch in range(3):
    x, y = shard(features, epoch), shard(labels, epoch)
    running = 0.0
    for xb, yb in zip(x.split(6), y.split(6)):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad.div_(world)
        opt.step()
        running += loss.item()
    if rank == 0:
        print("epoch %d loss %.4f" % (epoch, running))
with torch.no_grad():
    acc = (model(features).argmax(1) == labels).float().mean()
print("accuracy %.4f" % acc.item())
dist.destroy_process_group()
