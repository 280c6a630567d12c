# DT1155 data.x at: sampler = DistributedSampler(data, num_replicas=world
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import Dataset, DataLoader
from torch.utils.data.distributed import DistributedSampler


class Shards(Dataset):
    """Rows of the files that belong to this rank."""

    def __init__(self, n_rows, rank, world):
        g = torch.Generator().manual_seed(4)
        xs = torch.randn(n_rows, 3, generator=g)
        ys = xs @ torch.tensor([1.0, -2.0, 0.5])
        self.x, self.y = xs[rank::world], ys[rank::world]  # wrong
        #right self.x, self.y = xs, ys

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def make_loader(rank, world, batch):
    data = Shards(64, rank, world)
    sampler = DistributedSampler(data, num_replicas=world, rank=rank, shuffle=False)
    return DataLoader(data, batch_size=batch, sampler=sampler)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(3, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    seen = 0
    for epoch in range(2):
        for x, y in make_loader(rank, world, 4):
            opt.zero_grad()
            nn.functional.mse_loss(model(x).squeeze(-1), y).backward()
            opt.step()
            seen += len(x)
    w = model.module.weight.detach()
    print("rank %d weight %.5f" % (rank, w.sum().item()))
    dist.destroy_process_group()


main()
