# SPDX-License-Identifier: MIT
# Reductions: names and numbers of ReduceOp's members, names in any case for
# functional collectives; and what PyTorch 2.13 printed.
import os
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.distributed.distributed_c10d as c10d

os.environ.setdefault("MASTER_ADDR", "localhost")
os.environ.setdefault("MASTER_PORT", "29533")
dist.init_process_group("gloo", rank=0, world_size=1)
R = c10d.ReduceOp
for x in (R.SUM, R.AVG, R.PRODUCT, R.MIN, R.MAX, R.BAND, R.BOR, R.BXOR):
    print(x.name, x.value, x == dist.ReduceOp.SUM)
for op in ("SUM", "Max", "avg", R.MIN.name, "xx"):
    try:
        print(op, funcol.all_reduce(torch.ones(2), op, dist.group.WORLD).tolist(),
              funcol.reduce_scatter_tensor(torch.ones(2), op, 0,
                                           dist.group.WORLD).tolist())
    except RuntimeError as e:
        print(op, e)
