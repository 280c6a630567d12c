# DT1046 net[0].weight at: self.opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def r1_penalty(net, x):
    x = x.clone().requires_grad_(True)
    out = net(x).sum()
    g, = torch.autograd.grad(out, x, create_graph=True)
    return g.square().flatten(1).sum(1).mean()

class Trainer:
    def __init__(self, net, lr):
        self.net = DDP(net)
        self.params = [p for p in net.parameters() if p.requires_grad]
        self.opt = torch.optim.Adam(self.params, lr=lr)
    def step(self, x, y):
        self.opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(self.net(x), y)
        grads = torch.autograd.grad(loss, self.params)  # wrong
        for p, g in zip(self.params, grads): p.grad = g  # wrong
        #right loss.backward()
        self.opt.step()
        return loss.item()

def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
    t = Trainer(net, 1e-2)
    g = torch.Generator().manual_seed(50 + rank)
    for it in range(4):
        x = torch.randn(8, 6, generator=g)
        y = (x[:, :1] > 0).float()
        t.step(x, y)
    s = sum(p.square().sum() for p in net.parameters())
    if rank == 0: print("result %.6f" % s.item())
    dist.destroy_process_group()
main()
