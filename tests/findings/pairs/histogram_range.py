# DT1150 mine at: counts = torch.histc(x, bins=BINS
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
world = dist.get_world_size()
BINS = 10

torch.manual_seed(0)
everything = torch.randn(400) * torch.linspace(0.5, 2.5, 400)
mine = everything.chunk(world)[rank]


def calibrate(x, keep=0.9):
    lo, hi = x.min(), x.max()
    #right dist.all_reduce(lo, op=dist.ReduceOp.MIN)
    #right dist.all_reduce(hi, op=dist.ReduceOp.MAX)
    counts = torch.histc(x, bins=BINS, min=lo.item(), max=hi.item())
    dist.all_reduce(counts)
    share = counts.cumsum(0) / counts.sum()
    edge = int((share < keep).sum())
    return lo + (hi - lo) * (edge + 1) / BINS, counts


threshold, counts = calibrate(mine)
if rank == 0:
    print("counts", counts.int().tolist())
    print("threshold %.4f" % threshold)
dist.destroy_process_group()
