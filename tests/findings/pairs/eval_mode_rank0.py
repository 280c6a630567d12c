# DT1197 eval at:     net.eval()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def validate(net, x, y):
    net.eval()
    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
    #right net.train()
    return acc

def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.4), nn.Linear(32, 3))
    ddp = DDP(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.2)
    vx = torch.randn(20, 6); vy = vx[:, :3].argmax(1)
    torch.manual_seed(100 + rank)
    for epoch in range(3):
        for _ in range(2):
            x = torch.randn(8, 6); y = x[:, :3].argmax(1)
            opt.zero_grad()
            nn.functional.cross_entropy(ddp(x), y).backward()
            opt.step()
        if rank == 0:
            acc = validate(net, vx, vy)  # wrong
            #right acc = validate(net, vx, vy)
            print(epoch, "acc %.3f" % acc, "w %.5f" % net[0].weight.sum().item())
main()
