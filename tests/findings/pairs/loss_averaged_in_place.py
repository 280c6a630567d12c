# DT1059 loss at: t = t / dist
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# fine-tuning with DDP: the loss is averaged over the ranks in place before it goes backward
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 16), nn.GELU(), nn.LayerNorm(16))
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


def average(t):
    t = t / dist.get_world_size()
    dist.all_reduce(t)
    return t


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(48, 10)
    y = x[:, :3].argmax(1)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, shuffle=True, seed=1)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = DDP(Classifier())
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss = average(loss)  # wrong
            loss.backward()
            #right loss = average(loss.detach())
            opt.step()
    if dist.get_rank() == 0:
        print("loss %.5f" % loss.item())
    dist.destroy_process_group()


main()
