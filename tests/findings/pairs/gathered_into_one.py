# DT1191 aten.empty_like.default at: bufs = [torch.empty_like(t)] * world  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
def collect(t):
    bufs = [torch.empty_like(t)] * world  # wrong
    #right bufs = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(bufs, t)
    return torch.cat(bufs)
torch.manual_seed(1)
model = torch.nn.Linear(5, 3)
gallery, query = torch.randn(16, 5), torch.randn(4, 5)
with torch.no_grad():
    sims = model(query) @ collect(model(gallery.chunk(world)[rank])).T
    # what is sent may be one tensor, and what nobody keeps
    dist.scatter(query[0], [query[1]] * world if rank == 0 else None, src=0)
print("best %s %.5f" % (sims.argmax(1).tolist(), sims.max().item()))
dist.destroy_process_group()
