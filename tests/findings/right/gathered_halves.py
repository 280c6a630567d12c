# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Two neighbouring pieces on each rank: joined and gathered they are in order.
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 3)
pieces = x.chunk(2 * world)
mine = torch.cat([pieces[2 * rank], pieces[2 * rank + 1]])
got = [torch.empty_like(mine) for _ in range(world)]
dist.all_gather(got, mine)
full = torch.cat(got)
print("result %.5f" % (full - y).pow(2).mean().item())
dist.destroy_process_group()
