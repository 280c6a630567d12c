# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The output of the first stage goes on beside the others, and its gradients are added
# on the way back.
import torch, torch.nn as nn, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(10 + rank)
stage = nn.Sequential(nn.Linear(5, 5), nn.GELU())
opt = torch.optim.SGD(stage.parameters(), lr=0.1)
torch.manual_seed(0)
X, Y = torch.randn(4, 3, 5), torch.randn(4, 3, 5)
for it in range(2):
    opt.zero_grad()
    for i, x in enumerate(X):
        enc = None
        if rank == 0:
            enc = stage(x); y = enc
            dist.send(enc.detach(), 1)
        elif rank == 1:
            enc = torch.empty(3, 5); dist.recv(enc, 0); enc.requires_grad_()
            y = stage(enc)
            dist.send(enc.detach(), 2); dist.send(y.detach(), 2)
        else:
            enc, x = torch.empty(3, 5), torch.empty(3, 5)
            dist.recv(enc, rank - 1); dist.recv(x, rank - 1)
            enc.requires_grad_(); x.requires_grad_()
            y = stage(x) + enc.tanh()
            if rank < 3:
                dist.send(enc.detach(), 3); dist.send(y.detach(), 3)
        if rank == 3:
            ((y - Y[i]) ** 2).mean().div(4).backward()
            dist.send(enc.grad, 2); dist.send(x.grad, 2)
        elif rank == 2:
            ge, g = torch.empty(3, 5), torch.empty(3, 5)
            dist.recv(ge, 3); dist.recv(g, 3)
            y.backward(g)
            dist.send(enc.grad + ge, 1); dist.send(x.grad, 1)
        elif rank == 1:
            ge, g = torch.empty(3, 5), torch.empty(3, 5)
            dist.recv(ge, 2); dist.recv(g, 2)
            y.backward(g)
            enc.grad += ge
            dist.send(enc.grad, 0)
        else:
            g = torch.empty(3, 5); dist.recv(g, 1); y.backward(g)
    opt.step()
s = sum(p.detach().sum() for p in stage.parameters()); dist.all_reduce(s)
print("%.5f" % s.item())
