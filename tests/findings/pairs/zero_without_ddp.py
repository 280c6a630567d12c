# DT1182 model.head.bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU())
        self.head = nn.Linear(20, 5)
    def forward(self, x): return self.head(self.body(x))

def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(6)
    model = Classifier()
    net = model  # wrong
    #right net = DDP(model)
    opt = ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.Adam, lr=1e-2)
    g = torch.Generator().manual_seed(rank)
    for _ in range(4):
        x = torch.randn(8, 10, generator=g)
        loss = F.cross_entropy(net(x), x[:, :5].argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    s = sum(p.square().sum() for p in model.parameters())
    if rank == 0: print("result %.6f" % s.item())
    dist.destroy_process_group()
main()
