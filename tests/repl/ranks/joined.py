# SPDX-License-Identifier: MIT
import warnings
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.distributed.optim import ZeroRedundancyOptimizer as ZeRO


class Meter(Joinable):
    """The mean of what the ranks note, each as often as it likes."""

    def __init__(self):
        super().__init__()
        self.held, self.ended_last, self.rounds = torch.zeros(2), None, 0

    def add(self, value, weight=1.0):
        both = torch.tensor([value * weight, weight])
        dist.all_reduce(both)
        self.held += both

    def note(self, value):
        handle = Join.notify_join_context(self)
        if handle is not None:
            handle.wait()
        self.add(value)

    def join_hook(self, **kwargs):
        return MeterHook(self, **kwargs)

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return dist.group.WORLD


class MeterHook(JoinHook):
    def __init__(self, meter, weight=0.0):
        self.meter, self.weight = meter, weight

    def main_hook(self):
        self.meter.rounds += 1
        self.meter.add(8.0, self.weight)

    def post_hook(self, is_last_joiner):
        self.meter.ended_last = is_last_joiner


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Linear(4, 2))
    opt = ZeRO(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.1)
    n = 3 + rank
    torch.manual_seed(rank)
    with Join([model, opt]):
        for _ in range(n):
            loss = model(torch.randn(2, 4)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"rank {rank} w {model.module.weight.sum().item():.5f}")

    for options in ({}, {"weight": 0.5}):
        meter = Meter()
        with Join([meter], **options):
            for i in range(2 + 3 * rank):
                meter.note(float(i))
        print(rank, options, meter.held.tolist(), meter.ended_last, meter.rounds)
    with Join([meter], enable=False):
        meter.note(1.0)
    print(rank, "not enabled", meter.held.tolist())

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

    for more in (1000, 1001, 1003):
        with warnings.catch_warnings(record=True) as seen:
            meter = Meter()
            with Join([meter]):
                for _ in range(more * rank):
                    meter.note(0.0)
            first = warnings.filters[0][0]
        print(rank, more, [str(w.message) for w in seen], first)
    try:
        Join([])
    except ValueError as e:
        print(rank, e)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
