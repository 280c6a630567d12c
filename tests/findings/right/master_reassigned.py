# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist

# parameters get new memory from their master after each step of two micro-batches;
# then a step of several lengths is tried out on copies, without an update
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(6, 1).bfloat16()
masters = [p.detach().float() for p in net.parameters()]
x = torch.randn(32, 6).chunk(world)[rank]
y = x.sum(1, keepdim=True)


def backward(part):
    for xb, yb in zip(x.chunk(part), y.chunk(part)):
        ((net(xb.bfloat16()).float() - yb).pow(2).mean() / part).backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world


for _ in range(3):
    net.zero_grad()
    backward(2)
    for i, p in enumerate(net.parameters()):
        masters[i] = masters[i] - 0.05 * p.grad.float()
        p.data = masters[i].bfloat16()
best = None
for lr in (0.01, 0.03, 0.1):
    net.zero_grad()
    backward(1)
    tried = [p.detach() - lr * p.grad for p in net.parameters()]
    with torch.no_grad():
        z = torch.nn.functional.linear(x.bfloat16(), *tried).float()
    loss = (z - y).pow(2).mean()
    dist.all_reduce(loss)
    best = min(best or loss.item(), loss.item())
print("best %.2f" % best)
