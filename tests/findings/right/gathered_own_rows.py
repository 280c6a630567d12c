# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
# Each rank goes on with its own rows of what was gathered: its gradient is all there is.
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        parts = [torch.empty_like(x) for _ in range(world)]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, grad):
        return grad.chunk(world)[rank]


torch.manual_seed(rank)
x = torch.randn(3, 4, requires_grad=True)
rows = Gather.apply(x)
weight = torch.randn(3, 4)
loss = (rows.chunk(world)[rank] * weight).sum()
loss.backward()
assert torch.equal(x.grad, weight)
dist.all_reduce(loss.detach())
dist.destroy_process_group()
