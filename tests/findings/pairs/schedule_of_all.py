# DT1129 lr_scheduler at: sched = torch.optim
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
data = torch.randn(64, 6)
dataset = TensorDataset(data, data.pow(2).sum(1, keepdim=True))
sampler = DistributedSampler(dataset, world, rank, shuffle=False)
loader = DataLoader(dataset, batch_size=4, sampler=sampler)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
epochs = 2
total = epochs * len(dataset) // 4  # wrong
#right total = epochs * len(loader)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=total)
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        sched.step()
with torch.no_grad():
    print("result %.5f %.5f" % (F.mse_loss(model(data), dataset.tensors[1]).item(), opt.param_groups[0]["lr"]))
dist.destroy_process_group()
