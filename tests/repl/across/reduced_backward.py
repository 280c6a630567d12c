# SPDX-License-Identifier: MIT
# Gradients through a functional all_reduce: the average since 2.14, the extrema
# since 2.15; torch.qr is gone since 2.14.
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc

dist.init_process_group("gloo")
rank, group = dist.get_rank(), list(range(4))
for op in ("sum", "avg", "max"):
    x = torch.tensor([1., float(rank % 3), float("nan")], requires_grad=True)
    try:
        (fc.all_reduce(x, op, group) * (rank + 1)).sum().backward()
        grad = fc.all_reduce(x.grad, "sum", group)      # alike on all ranks
        print(op, grad.tolist())
    except RuntimeError as e:
        print(op, e)
try:
    print("qr", torch.qr(torch.eye(2) * 2, some=False)[1].tolist())
except RuntimeError as e:
    print("qr", str(e).splitlines()[-1])
dist.destroy_process_group()

# PyTorch's own runs on four ranks differ in
# output line 2
#   2.13  avg all_reduce backward only supports 'sum' reduction, got 'avg'
#   2.15  avg [10.0, 10.0, 10.0]
# output line 3
#   2.13  max all_reduce backward only supports 'sum' reduction, got 'max'
#   2.15  max [10.0, 10.0, 10.0]
# output line 4
#   2.13  qr [[2.0, 0.0], [0.0, 2.0]]
#   2.15  qr Since `some` was set to False, use mode='complete'.
