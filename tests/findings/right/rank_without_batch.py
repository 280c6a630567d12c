# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# A rank without a batch counts for nothing, in the gradients and in what is shown.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
m = nn.Linear(4, 2)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for it in range(3):
    x, y = torch.randn(4, 6, 4)[rank], torch.randn(4, 6, 2)[rank]
    has = torch.tensor(1.0 if it + rank < 4 else 0.0)
    count = has.clone()
    dist.all_reduce(count)
    loss = F.mse_loss(m(x), y)
    shown = loss.detach() * has
    dist.all_reduce(shown)
    opt.zero_grad()
    (loss * has).backward()
    for p in m.parameters():
        dist.all_reduce(p.grad)
        p.grad /= count
    opt.step()
    if rank == 0:
        print("%d %.5f" % (it, shown / count))
