# DT1198 y at: loss = F.cross_entropy(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# an iterable data set split over ranks and workers: the slots of the workers of several ranks meet
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.utils.data import IterableDataset, DataLoader

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
rows = torch.randn(64, 8)
labels = rows[:, :4].argmax(1)
WORKERS = 2


class Stream(IterableDataset):
    def __iter__(self):
        for worker in range(WORKERS):
            slot = worker + rank  # wrong
            #right slot = worker + rank * WORKERS
            for i in range(slot, len(rows), world * WORKERS):
                yield rows[i], labels[i]


model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
opt = torch.optim.SGD(model.parameters(), lr=0.2)
for epoch in range(2):
    for x, y in DataLoader(Stream(), batch_size=8):
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
if rank == 0:
    print("result %.6f" % sum(p.square().sum() for p in model.parameters()).item())
dist.destroy_process_group()
