# SPDX-License-Identifier: MIT
# Hooks that reduce the buckets of DistributedDataParallel, futures, an
# optimizer whose states are divided, groups of neighbours.
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import debugging_hooks
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as default
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()


def make():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    return DDP(model)


def halves(state, bucket):
    state.append((bucket.index(), bucket.is_last(), bucket.buffer().shape,
                  len(bucket.gradients()), len(bucket.parameters())))
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda f: f.value()[0] / 2)


for hook in (default.allreduce_hook, default.fp16_compress_hook,
             default.bf16_compress_hook, debugging_hooks.noop_hook,
             default.fp16_compress_wrapper(default.allreduce_hook), halves):
    model, seen = make(), []
    model.register_comm_hook(seen if hook is halves else None, hook)
    for _ in range(2):
        model.zero_grad()
        model(torch.ones(3, 4) * (rank + 1)).square().sum().backward()
    print(rank, [round(p.grad.sum().item(), 2) for p in model.parameters()],
          seen)
try:
    model.register_comm_hook(None, default.allreduce_hook)
except RuntimeError as e:
    print(rank, e)
print(rank, hasattr(nn.Linear(1, 1), "register_comm_hook"))

model = make()
optim = ZeroRedundancyOptimizer(model.parameters(), lr=0.5,
                                optimizer_class=torch.optim.Adam)
for lr in (0.5, 0.25):
    optim.param_groups[0]["lr"] = lr
    optim.zero_grad()
    model(torch.ones(3, 4) * (rank + 1)).square().sum().backward()
    optim.step()
print(rank, [round(p.sum().item(), 4) for p in model.parameters()],
      len(optim.state))


class Named(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 1.0})

    def add_param_group(self, group):
        group["mine"] = True
        super().add_param_group(group)


print(rank, Named(model.parameters()).param_groups[0]["mine"])

future = torch.futures.Future()
after = future.then(lambda f: f.wait() + 1)
future.set_result(41)
print(rank, after.wait(), torch.futures.wait_all([future, after]),
      torch.futures.collect_all([future]).value()[0].done())
failed = future.then(lambda f: 1 / 0)
try:
    failed.wait()
except RuntimeError as e:
    print(rank, str(e).split("\n")[0])

mine, groups = dist.new_subgroups(1)
x = torch.ones(2) * rank
dist.all_reduce(x, group=mine)
print(rank, x, len(groups), dist.get_process_group_ranks(mine))
mine, _ = dist.new_subgroups_by_enumeration([[1, 0]])
xs = [torch.ones(1) * rank, torch.ones(2)]
dist.all_reduce_coalesced(xs, group=mine)
print(rank, xs)
for wrong in (lambda: dist.new_subgroups(3),
              lambda: dist.all_gather([x], x),
              lambda: rank == 0 and dist.scatter(x, [x], src=0)):
    try:
        wrong()
    except (ValueError, RuntimeError) as e:
        print(rank, type(e).__name__, e)
dist.destroy_process_group()
