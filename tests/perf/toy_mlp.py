# SPDX-License-Identifier: MIT
# The toy MLP's step in PyTorch on gloo: tests/perf/toy_mlp.lua runs it where
# PyTorch is installed.  Prints the microseconds of a step, the best of turns.
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 32)
        self.b = nn.Linear(32, 8)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def rank(me, n, where, steps):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + where, rank=me,
                            world_size=n)
    mesh = init_device_mesh("cpu", (n,), mesh_dim_names=("tp",))
    torch.manual_seed(0)
    model = parallelize_module(Toy(), mesh, {
        "a": ColwiseParallel(), "b": RowwiseParallel()})
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(4, 16)
    best = float("inf")
    for _ in range(3):
        dist.barrier()
        start = time.perf_counter()
        for _ in range(steps):
            opt.zero_grad()
            model(x).sum().backward()
            opt.step()
        best = min(best, (time.perf_counter() - start) / steps)
    if me == 0:
        print("%.3f" % (best * 1e6))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks, steps = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank, (ranks, os.path.join(folder, "store"), steps), ranks)
