# DT1099 labels at: labels = torch.arange(4)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import torch.distributed.nn.functional as dnn
torch.manual_seed(0)
net = nn.Linear(8, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
data = torch.randn(16, 8)
x = data.chunk(world)[rank]
for step in range(4):
    opt.zero_grad()
    q = F.normalize(net(x), dim=-1)
    k = torch.cat(dnn.all_gather(F.normalize(net(x * 1.1), dim=-1)))
    logits = 5 * q @ k.t()
    labels = torch.arange(4) # wrong
    #right labels = torch.arange(4) + 4 * rank
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
mean = loss.detach().clone()
dist.all_reduce(mean)
print("result %.5f" % (mean.item() / world))
dist.destroy_process_group()
