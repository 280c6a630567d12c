# DT1015 aten.nll_loss2d_forward.default at: return F.cross_entropy(logits, y, weight=self.weight)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

class Segmenter(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.enc = nn.Conv1d(2, 6, 3, padding=1)
        self.dec = nn.Conv1d(6, classes, 1)
    def forward(self, x): return self.dec(F.relu(self.enc(x)))

class Criterion(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.register_buffer("weight", weight)
    def forward(self, logits, y):
        return F.cross_entropy(logits, y, weight=self.weight)  # wrong
        #right total = self.weight[y].sum()
        #right dist.all_reduce(total)
        #right return F.cross_entropy(logits, y, weight=self.weight, reduction="sum") * dist.get_world_size() / total

def train(model, criterion, loader, opt, sampler):
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad(set_to_none=True)
            criterion(model(x), y).backward()
            opt.step()

def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(32, 2, 5)
    y = (x.sum(1) > 1).long() + (x[:, 0] > 1.5).long()
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = DDP(Segmenter(3))
    criterion = Criterion(torch.tensor([1.0, 3.0, 8.0]))
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(model, criterion, loader, opt, sampler)
    s = sum(p.square().sum() for p in model.parameters())
    if dist.get_rank() == 0: print("result %.6f" % s.item())
main()
