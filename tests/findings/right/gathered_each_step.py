# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# Parts of a weight that are gathered in each step, also into one buffer, and weights
# that were gathered once on purpose: those of a reference.
import torch, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
part = torch.randn(8, 4).chunk(world)[rank].clone()
buffer = torch.empty(8, 4)
pieces = [torch.empty_like(part) for _ in range(world)]
dist.all_gather(pieces, part)
reference = torch.cat(pieces)
torch.manual_seed(5 + rank)
for step in range(4):
    x = torch.randn(6, 4)
    dist.all_gather_into_tensor(buffer, part)
    w = buffer.clone().requires_grad_()
    with torch.no_grad():
        goal = F.linear(x, reference)
    (F.linear(x, w) - goal - 1).square().mean().backward()
    grad = torch.empty_like(part)
    dist.reduce_scatter_tensor(grad, w.grad)
    part -= 0.1 * grad / world
print("done")
dist.destroy_process_group()
