# SPDX-License-Identifier: MIT
# What DDP does with a backward that it was not called for: nothing, the
# gradients stay this rank's (the module itself called, two forwards at once).
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
r = dist.get_rank()
x = torch.ones(1, 2) * (r + 1)


def run(what, m, *losses):
    for loss in losses:
        loss.sum().backward()
        print(r, what, m.weight.grad.tolist())


for settings in ({}, {"gradient_as_bucket_view": True}):
    m = nn.Linear(2, 1, bias=False)
    d = DDP(m, **settings)
    run("module before", m, m(x))
    m.zero_grad()
    run("wrapped", m, d(x))
    m.zero_grad()
    run("module after", m, m(x), m(x * 2))
    run("wrapped again", m, d(x))
    m.zero_grad()
    run("two forwards", m, *[d(x), d(x * 2)])
    with d.no_sync():
        run("no_sync", m, d(x))
    run("module after that", m, m(x))
try:
    d.register_comm_hook(None, 3)
except TypeError as e:
    print(r, e)
