# SPDX-License-Identifier: MIT
# ScheduleInterleavedZeroBubble trains as the whole model does.
import torch
import torch.distributed as dist
import torch.distributed.tensor
import torch.nn as nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import get_schedule_class

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
layers = [nn.Sequential(nn.Linear(5, 5), nn.Tanh()) for _ in range(4)]
x, y = torch.randn(8, 5), torch.randn(8, 5)
stages = [PipelineStage(layers[i], i, 4, torch.device("cpu")) for i in (rank, rank + 2)]
kind = get_schedule_class("interleavedzerobubble")
schedule = kind(stages, n_microbatches=4, loss_fn=nn.MSELoss())
losses = []
out = schedule.step(*([x] if rank == 0 else []), target=y if rank == 1 else None, losses=losses if rank == 1 else None)
print(rank, [f"{v.item():.5f}" for v in losses], out is None or tuple(out.shape))
for i in (rank, rank + 2):
    print(rank, i, f"{layers[i][0].weight.grad.norm().item():.5f}")
try:
    kind(stages, n_microbatches=5, loss_fn=nn.MSELoss())
except ValueError as e:
    print(rank, e)
print(rank, torch.distributed._functional_collectives.all_reduce(torch.ones(1), "sum", dist.group.WORLD).item())
dist.destroy_process_group()
