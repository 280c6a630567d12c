# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# heartbeats: rank 0 drains one message per worker in each round; the buffer's last content is logged
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
beat = torch.zeros(2)
for step in range(3):
    if rank == 0:
        for r in range(1, world):
            dist.recv(beat, r)
        print("step %d alive, last %d" % (step, int(beat[0].item())))
    else:
        dist.send(torch.tensor([float(rank), float(step)]), 0)
dist.destroy_process_group()
