# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each rank makes only its own two stages of a pipeline, one right after the other,
# for one schedule and then for another.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B, ScheduleLoopedBFS
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
x, y = torch.linspace(-1, 1, 48).view(8, 6), torch.ones(8, 6)
for kind in (ScheduleInterleaved1F1B, ScheduleLoopedBFS):
    parts = [nn.Sequential(nn.Linear(6, 6), nn.Tanh()) for _ in range(2)]
    stages = [PipelineStage(p, rank + world * i, 2 * world, torch.device("cpu"))
              for i, p in enumerate(parts)]
    sched = kind(stages, n_microbatches=4, loss_fn=F.mse_loss)
    opt = torch.optim.SGD([p for part in parts for p in part.parameters()], lr=0.1)
    for _ in range(2):
        losses = []
        if rank == 0: sched.step(x)
        elif rank == world - 1: sched.step(target=y, losses=losses)
        else: sched.step()
        opt.step()
        opt.zero_grad()
    if losses: print("loss %.3f" % torch.stack(losses).mean().item())
dist.destroy_process_group()
