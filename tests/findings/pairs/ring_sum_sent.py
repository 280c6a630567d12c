# DT1176 total at: send = total.clone()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)


def ring_all_reduce(t):
    right, left = (rank + 1) % world, (rank - 1) % world
    total = t.clone()
    send = t.clone()
    for _ in range(world - 1):
        recv = torch.empty_like(t)
        req = dist.isend(send, right)
        dist.recv(recv, left)
        req.wait()
        total += recv
        send = total.clone()  # wrong
        #right send = recv
    return total


data = torch.randn(24, 4)
target = data.prod(1, keepdim=True)
x, y = data.chunk(world)[rank], target.chunk(world)[rank]
for step in range(4):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    for p in model.parameters():
        p.grad.copy_(ring_all_reduce(p.grad) / world)
    opt.step()
with torch.no_grad():
    print("final %.5f" % F.mse_loss(model(data), target).item())
dist.destroy_process_group()
