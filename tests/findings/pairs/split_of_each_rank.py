# DT1180 DistributedSampler at: tr = DataLoader(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler

def loaders(rank, world):
    base = torch.Generator().manual_seed(0)
    full = TensorDataset(torch.randn(80, 4, generator=base), torch.randint(0, 3, (80,), generator=base))
    train, val = random_split(full, [64, 16])  # wrong
    #right train, val = random_split(full, [64, 16], generator=torch.Generator().manual_seed(42))
    tr = DataLoader(train, 8, sampler=DistributedSampler(train, world, rank))
    va = DataLoader(val, 4, sampler=DistributedSampler(val, world, rank, shuffle=False))
    return tr, va

def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1234 + rank)
    tr, va = loaders(rank, world)
    model = DDP(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        tr.sampler.set_epoch(epoch)
        for x, y in tr:
            opt.zero_grad()
            F.cross_entropy(model(x), y).backward()
            opt.step()
    model.eval()
    right = torch.zeros(2)
    with torch.no_grad():
        for x, y in va:
            right += torch.tensor([F.cross_entropy(model(x), y, reduction="sum").item(), len(y)])
    dist.all_reduce(right)
    if rank == 0: print("result %.6f" % (right[0] / right[1]).item())
    dist.destroy_process_group()
main()
