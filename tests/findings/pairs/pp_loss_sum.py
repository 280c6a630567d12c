# DT1187 aten.mse_loss.default at: return F.mse_loss(out, target, reduction="sum")
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
torch.manual_seed(1)
blocks = [nn.Sequential(nn.Linear(6, 6), nn.GELU()) for _ in range(world)]
stage = PipelineStage(blocks[rank], rank, world, torch.device("cpu"))
def loss_fn(out, target):
    return F.mse_loss(out, target, reduction="sum")  # wrong
    #right return F.mse_loss(out, target)
sched = ScheduleGPipe(stage, n_microbatches=4, loss_fn=loss_fn)
opt = torch.optim.SGD(blocks[rank].parameters(), lr=0.05)
x, y = torch.randn(8, 6), torch.randn(8, 6)
for _ in range(3):
    opt.zero_grad()
    losses = []
    if rank == 0: sched.step(x)
    elif rank == world - 1: sched.step(target=y, losses=losses)
    else: sched.step()
    opt.step()
if rank == world - 1: print("loss %.5f" % (sum(l.item() for l in losses) / len(losses)))
n = sum(p.detach().square().sum() for p in blocks[rank].parameters())
dist.all_reduce(n)
if rank == 0: print("weights %.5f" % n.item())
