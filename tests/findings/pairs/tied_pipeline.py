# DT1127 stage.embed at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D, N = 11, 8, 6

class First(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.embed = nn.Parameter(weight.clone())
        self.proj = nn.Linear(D, D)

    def forward(self, ids):
        return torch.tanh(self.proj(self.embed[ids]))

class Last(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.head = nn.Parameter(weight.clone())
        self.proj = nn.Linear(D, D)

    def forward(self, h):
        return torch.tanh(self.proj(h)) @ self.head.t()

shared = torch.randn(V, D) * 0.4          # input and output embedding are one matrix
stage = First(shared) if rank == 0 else Last(shared)
opt = torch.optim.SGD(stage.parameters(), lr=0.5)
ids, labels = torch.randint(0, V, (N,)), torch.randint(0, V, (N,))
for step in range(5):
    opt.zero_grad()
    if rank == 0:
        h = stage(ids)
        dist.send(h.detach(), 1)
        g = torch.empty(N, D)
        dist.recv(g, 1)
        h.backward(g)
    else:
        h = torch.empty(N, D)
        dist.recv(h, 0)
        h.requires_grad_(True)
        loss = F.cross_entropy(stage(h), labels)
        loss.backward()
        dist.send(h.grad, 0)
    #right tied = stage.embed if rank == 0 else stage.head
    #right dist.all_reduce(tied.grad)
    opt.step()
last = loss.detach() if rank == 1 else torch.zeros(())
dist.broadcast(last, 1)
print("result %.5f" % last.item())
dist.destroy_process_group()
