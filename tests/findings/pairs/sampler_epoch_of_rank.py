# DT1153 DistributedSampler at: for x, y in loader:
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from torch.nn.parallel import DistributedDataParallel as DDP
ds = TensorDataset(torch.randn(16, 4), torch.randn(16, 1))
sampler = DistributedSampler(ds, seed=3)
loader = DataLoader(ds, batch_size=2, sampler=sampler)
model = DDP(nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    sampler.set_epoch(epoch + rank)  # wrong
    #right sampler.set_epoch(epoch)
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        opt.step()
dist.destroy_process_group()
