# DT1045 d at: d = torch.cdist(x, self.centers)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(17)
class RBFNet(nn.Module):
    def __init__(self, centers):
        super().__init__()
        self.register_buffer("centers", centers.chunk(world, 1)[rank].clone())
        self.out = nn.Linear(len(centers), 3)
    def forward(self, x):
        with torch.no_grad():
            d = torch.cdist(x, self.centers)  # wrong
            #right d = torch.cdist(x, self.centers).square()
            dist.all_reduce(d)
            #right d = d.sqrt()
        return self.out(torch.exp(-d / 4))
x, y = torch.randn(12, 16), torch.randint(0, 3, (12,))
net = RBFNet(x[torch.randperm(12)[:4]])
opt = torch.optim.Adam(net.out.parameters(), lr=0.05)
for step in range(2):
    loss = F.cross_entropy(net(x.chunk(world, 1)[rank]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.5f" % loss.item())
