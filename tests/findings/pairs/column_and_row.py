# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# parts of two matrices, made alike, and a sum between them
first = torch.randn(16, 8).chunk(world)[rank].clone().requires_grad_(True)
bias = torch.zeros(4, requires_grad=True)
second = torch.randn(8, 16).chunk(world, 1)[rank].clone().requires_grad_(True)
class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g
x, y = torch.randn(5, 8), torch.randn(5, 8)
for _ in range(3):
    for p in (first, bias, second):
        p.grad = None
    h = torch.relu(F.linear(x, first, bias))
    loss = F.mse_loss(Sum.apply(F.linear(h, second)), y)
    loss.backward()
    with torch.no_grad():
        for p in (first, bias, second):
            p -= 0.1 * p.grad
