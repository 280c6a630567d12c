# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# Schedules that are longer than training on purpose: by epochs, and with a rest.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
data = torch.randn(48, 4)
dataset = TensorDataset(data, data.sum(1, keepdim=True))
sampler = DistributedSampler(dataset, world, rank)
loader = DataLoader(dataset, batch_size=4, sampler=sampler)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
by_epoch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
    by_epoch.step()
print("%.4f" % opt.param_groups[0]["lr"])
dist.destroy_process_group()
