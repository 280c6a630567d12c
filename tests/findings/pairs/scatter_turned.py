# DT1158 part at: part = torch.empty(2, 6).t()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The gradient of a weight that is kept turned, cut for its owners.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(3)
weight = torch.randn(6, 8, requires_grad=True)
x = torch.randn(5, 6, generator=torch.Generator().manual_seed(rank))
(x @ weight).square().mean().backward()
parts = [p.contiguous() for p in weight.grad.chunk(world, 1)]
part = torch.empty(2, 6).t()  # wrong
#right part = torch.empty(6, 2)
dist.reduce_scatter(part, parts)
part /= world
if rank == 0:
    print("norm of the first part %.4f" % part.norm().item())
dist.destroy_process_group()
