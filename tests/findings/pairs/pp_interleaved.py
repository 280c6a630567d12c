# DT1186 PipelineStage at: stages = [PipelineStage
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import ScheduleInterleaved1F1B
torch.manual_seed(0)
layers = [nn.Sequential(nn.Linear(6, 6), nn.GELU()) for _ in range(2 * world)]
device = torch.device("cpu")
mine = [2 * rank, 2 * rank + 1]  # wrong
#right mine = [rank, rank + world]
stages = [PipelineStage(layers[m], s, 2 * world, device) for m, s in zip(mine, (rank, rank + world))]
sched = ScheduleInterleaved1F1B(stages, n_microbatches=4, loss_fn=F.mse_loss)
opt = torch.optim.SGD([p for m in mine for p in layers[m].parameters()], lr=0.1)
x, y = torch.randn(8, 6), torch.randn(8, 6)
for _ in range(3):
    opt.zero_grad()
    losses = []
    if rank == 0: sched.step(x, target=y, losses=losses)
    elif rank == world - 1: sched.step(target=y, losses=losses)
    else: sched.step()
    opt.step()
if rank == world - 1: print("loss %.5f" % torch.stack(losses).mean().item())
