# DT1174 model[2].weight at: sampler = DistributedSampler(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""Two nodes with two processes each (LOCAL_RANK is simulated)."""
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.utils.data import TensorDataset, DataLoader
from torch.utils.data.distributed import DistributedSampler

GPUS_PER_NODE = 2


def setup():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    return rank, rank % GPUS_PER_NODE, dist.get_world_size()


def make_loader(local_rank, rank, world):
    g = torch.Generator().manual_seed(1)
    x = torch.randn(64, 7, generator=g)
    y = (x.sum(1) > 0).float()
    sampler = DistributedSampler(
        TensorDataset(x, y),
        num_replicas=GPUS_PER_NODE,  # wrong
        rank=local_rank,  # wrong
        #right num_replicas=world,
        #right rank=rank,
        shuffle=True,
    )
    return DataLoader(TensorDataset(x, y), batch_size=8, sampler=sampler), sampler


def main():
    rank, local_rank, world = setup()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(7, 12), nn.ReLU(), nn.Linear(12, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    loader, sampler = make_loader(local_rank, rank, world)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            for p in model.parameters():
                dist.all_reduce(p.grad)
                p.grad /= world
            opt.step()
        v = loss.detach().clone()
        dist.all_reduce(v)
        if rank == 0:
            print("epoch", epoch, "loss %.5f" % (v / world).item())


main()
