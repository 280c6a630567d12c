# SPDX-License-Identifier: MIT
# The gradient of a gather, of a tensor whose gradient is turned: gloo fills
# what it receives in the order of its memory.
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dnn

dist.init_process_group("gloo")
rank = dist.get_rank()
turned = torch.arange(48.).view(6, 2, 4).transpose(0, 1)
for whole in (turned, turned.contiguous()):
    x = torch.zeros(2, 3, 4, requires_grad=True)
    y = torch.cat(dnn.all_gather(x), 1)
    y.backward(whole * (rank + 1))
    print(rank, whole.is_contiguous(), x.grad.flatten().tolist(), flush=True)

# Functional collectives: each has a gradient, and what is on its way says so.
import torch.distributed._functional_collectives as fc
from torch.utils.data import DistributedSampler

world = dist.group.WORLD
for name, f in {
    "reduce_scatter": lambda t: fc.reduce_scatter_tensor(t, "sum", 0, world),
    "all_gather": lambda t: fc.all_gather_tensor(t, 0, world),
    "all_reduce": lambda t: fc.all_reduce(t, "sum", world),
    "all_to_all": lambda t: fc.all_to_all_single(t, None, None, world),
    "all_to_all_autograd":
        lambda t: fc.all_to_all_single_autograd(t, None, None, world)}.items():
    x = torch.ones(4, requires_grad=True)
    y = f(x * (rank + 1))
    print(rank, name, type(y), y.grad_fn.name(), y)
    waited = fc.wait_tensor(y)
    print(rank, type(waited).__name__, waited.grad_fn.name())
    (y * (rank + 2)).sum().backward()
    print(rank, x.grad.tolist(), f(x.detach()), flush=True)
for s in (DistributedSampler(range(7)), DistributedSampler(range(7), 2, rank,
                                                           False, 3, True)):
    print(rank, s.total_size, s.num_samples, len(s), s.dataset, s.shuffle,
          s.seed, s.drop_last, list(s), flush=True)
