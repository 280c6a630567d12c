# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# What is chosen by its size and not sent is kept by each rank.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class TopK:
    def __init__(self, params, k, world):
        self.params, self.k, self.world = params, k, world
        self.err = [torch.zeros_like(p) for p in params]
    def reduce(self):
        for i, p in enumerate(self.params):
            acc = p.grad + self.err[i]
            idx = acc.abs().flatten().topk(max(1, int(acc.numel() * self.k))).indices
            sent = torch.zeros_like(acc).flatten()
            sent[idx] = acc.flatten()[idx]
            sent = sent.view_as(acc)
            out = sent.clone()
            dist.all_reduce(out); out /= self.world
            self.err[i] = acc - sent
            p.grad = out

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(15)
net = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 1))
comp = TopK(list(net.parameters()), 0.3, world)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(32, 6); Y = X.prod(1, keepdim=True)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
for _ in range(5):
    opt.zero_grad(); F.mse_loss(net(x), y).backward(); comp.reduce(); opt.step()
print("loss %.5f" % F.mse_loss(net(X), Y).item())
