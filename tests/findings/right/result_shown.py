# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Results of functional collectives that one rank shows, or all at some steps; what they were
# made of goes on, as it should
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
part = torch.randn(5, 8).chunk(world, 1)[rank] @ torch.randn(6, 8).chunk(world, 1)[rank].t()
whole = funcol.all_reduce(part, "sum", dist.group.WORLD)
if rank == 0:
    print("whole %.4f" % whole.sum().item())
largest = [torch.zeros(()) for _ in range(world)]
dist.all_gather(largest, part.abs().max())
if rank == 0:
    print("largest addends", [round(v.item(), 4) for v in largest])
net = nn.Linear(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
gen = torch.Generator().manual_seed(rank)
for step in range(6):
    loss = F.mse_loss(net(torch.randn(4, 8, generator=gen)), torch.zeros(4, 3))
    with torch.no_grad():
        shown = funcol.all_reduce(loss, "avg", dist.group.WORLD)
    opt.zero_grad()
    (loss * 0.5).backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
    if step % 4 == 0:
        print("loss %.4f" % shown.item())
