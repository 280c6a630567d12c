# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Collectives that autograd goes through: gradients are those of one device.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.distributed.nn
import torch.distributed.nn.functional as functional
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(8, 4)
data = torch.randn(16, 8)


def loss_of(f):
    f = F.normalize(f, dim=-1)
    return F.cross_entropy(f @ f.t() * 10, torch.arange(16) // 2)


def grads():
    got = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    return got


loss_of(net(data)).backward()
whole = grads()
x = data[4 * rank:4 * rank + 4]
loss_of(torch.cat(torch.distributed.nn.all_gather(net(x)))).backward()
for p in net.parameters():
    dist.all_reduce(p.grad)
    p.grad /= world
for got, want in zip(grads(), whole):
    assert torch.allclose(got, want, atol=1e-6), (got, want)

# Each rank sends row i to rank i; what it gets it weighs by its number.
rows = (torch.arange(2. * world) + rank).view(world, 2).requires_grad_()
got = functional.all_to_all_single(torch.empty(world, 2), rows)
assert got[:, 0].tolist() == [2. * rank + r for r in range(world)]
(got * (rank + 1)).sum().backward()
assert rows.grad[:, 1].tolist() == [r + 1. for r in range(world)]

# A sum over the ranks: its gradient is summed, too.
part = torch.tensor([1., 2.], requires_grad=True)
(functional.all_reduce(part * (rank + 1)) * (rank + 1)).sum().backward()
assert part.grad.tolist() == [10. * (rank + 1)] * 2

# One rank's tensor on all: the gradients of all come back to it.
own = torch.ones(3, requires_grad=True)
(functional.broadcast(own, 1) * (rank + 1)).sum().backward()
assert own.grad.tolist() == [10. if rank == 1 else 0.] * 3
