# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.distributed.optim import ZeroRedundancyOptimizer as ZeRO


class CounterHook(JoinHook):
    def __init__(self, counter, sync_max):
        self.counter, self.sync_max = counter, sync_max

    def main_hook(self):
        t = torch.zeros(1)
        dist.all_reduce(t)

    def post_hook(self, is_last_joiner):
        if self.sync_max:
            r = self.counter.common_rank(is_last_joiner)
            if r == dist.get_rank():
                self.counter.max_count = self.counter.count.detach().clone()
            dist.broadcast(self.counter.max_count, src=r)


class Counter(Joinable):
    def __init__(self):
        super().__init__()
        self.count = torch.zeros(1)
        self.max_count = torch.zeros(1)

    def common_rank(self, last):
        t = torch.tensor([dist.get_rank() if last else -1])
        dist.all_reduce(t, op=dist.ReduceOp.MAX)
        return int(t.item())

    def __call__(self):
        Join.notify_join_context(self)
        t = torch.ones(1)
        dist.all_reduce(t)
        self.count += t

    def join_hook(self, **kwargs):
        return CounterHook(self, kwargs.get("sync_max_count", False))

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return dist.group.WORLD


def main():
    dist.init_process_group("gloo")
    rank, ws = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DDP(nn.Linear(4, 2))
    opt = ZeRO(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.1)
    n = 3 + rank
    torch.manual_seed(rank)
    steps = 0
    with Join([model, opt]):
        for _ in range(n):
            x = torch.randn(2, 4)
            loss = model(x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            steps += 1
    print(f"rank {rank} did {steps} of {n}; w {model.module.weight.sum().item():.5f}")
    c = Counter()
    with Join([c], sync_max_count=True):
        for _ in range(5 * (rank + 1)):
            c()
    print(f"{int(c.count.item())} inputs before rank {rank} joined; {int(c.max_count.item())} in all")
    model2 = DDP(nn.Linear(4, 2, bias=False))
    with model2.join(divide_by_initial_world_size=False):
        for i in range(1 + rank):
            model2(torch.ones(1, 4) * (i + 1)).sum().backward()
    print(f"rank {rank} grad {model2.module.weight.grad.sum().item():.4f}")
    try:
        with Join([model], throw_on_early_termination=True):
            for i in range(1 + rank):
                model(torch.ones(1, 4)).sum().backward()
    except RuntimeError as e:
        print(f"rank {rank}: {e}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
