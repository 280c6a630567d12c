# SPDX-License-Identifier: MIT
"""torch.distributed.algorithms.join: ranks with fewer inputs than others go on
with the collectives of those, until nobody has inputs left.

Each iteration of a rank that has inputs begins with a sum of ones; those that
have none add zero to it, and so all know how many are left.
"""
import warnings
from abc import ABC, abstractmethod

import torch
import torch.distributed as dist

_SKEW = 1000                    # iterations without inputs before a warning


class JoinHook:
    def main_hook(self):
        """The collectives of one iteration, of a rank without inputs."""

    def post_hook(self, is_last_joiner):
        """When no rank has inputs left."""


class _JoinConfig:
    def __init__(self, enable=False, throw_on_early_termination=False,
                 is_first_joinable=False):
        self.enable = enable
        self.throw_on_early_termination = throw_on_early_termination
        self.is_first_joinable = is_first_joinable


class Joinable(ABC):
    @abstractmethod
    def __init__(self):
        super().__init__()
        self._join_config = _JoinConfig()

    @abstractmethod
    def join_hook(self, **kwargs):
        ...

    @property
    @abstractmethod
    def join_device(self):
        ...

    @property
    @abstractmethod
    def join_process_group(self):
        ...


def _sum(value, join):
    t = torch.full((1,), float(value), device=join.join_device)
    dist.all_reduce(t, group=join.join_process_group)
    return int(t.item())


class Join:
    def __init__(self, joinables, enable=True, throw_on_early_termination=False,
                 **kwargs):
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._hooks = [one.join_hook(**kwargs) for one in joinables]
        self._first, *others = joinables
        self._first._join_config = _JoinConfig(enable, throw_on_early_termination, True)
        for one in others:
            one._join_config = _JoinConfig(enable, throw_on_early_termination)
        group = self._first.join_process_group
        if any(one.join_process_group != group for one in others):
            raise ValueError("Using join context manager with multiple process groups")
        self._rank = dist.get_rank(group)

    def __enter__(self):
        """Gives None."""

    def __exit__(self, kind, error, trace):
        config = self._first._join_config
        if kind or not config.enable:
            return
        warnings.simplefilter("once")       # for good, as PyTorch does
        rounds = 0
        while self._others_go_on(rounds, config.throw_on_early_termination):
            for hook in self._hooks:
                hook.main_hook()
            rounds += 1
        for hook in self._hooks:
            hook.post_hook(rounds == 0)

    def _others_go_on(self, rounds, throw):
        """Has a rank inputs left after so many rounds of this one's hooks?"""
        if rounds > _SKEW:
            warnings.warn(
                f"Detected uneven input skew of greater than {_SKEW}. This means that "
                f"rank {self._rank} has at least {_SKEW} fewer inputs than other "
                "currently-active ranks. This level of skew could lead to performance "
                "degradation during training.", stacklevel=3)
        some = _sum(0, self._first) > 0
        if some and throw:
            _sum(1, self._first)
            raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
        return some

    @staticmethod
    def notify_join_context(joinable):
        """Say that this rank has inputs: a handle of the sum, or None outside."""
        config = getattr(joinable, "_join_config", None)
        if config is None:
            raise AssertionError(f"Check that the {type(joinable)} constructor calls "
                                 "the ``Joinable`` constructor")
        if not (config.enable and config.is_first_joinable):
            return None
        work = _Sum(joinable)
        if config.throw_on_early_termination and _sum(0, joinable):
            raise RuntimeError("Detected at least one rank that exhausted inputs. "
                               "Throwing across all ranks.")
        return work


class _Sum:
    """The handle of a sum of ones, which is under way."""

    def __init__(self, join):
        self._tensor = torch.ones(1, device=join.join_device)
        self._work = dist.all_reduce(self._tensor, group=join.join_process_group,
                                     async_op=True)

    def wait(self):
        return self._work.wait()

    def count(self):
        self._work.wait()
        return int(self._tensor.item())


# ---- DistributedDataParallel ----

def _highest(ddp, candidate):
    """The highest of the ranks that are candidates."""
    rank = dist.get_rank(ddp.join_process_group) if candidate else -1
    t = torch.tensor([rank])
    dist.all_reduce(t, op=dist.ReduceOp.MAX, group=ddp.join_process_group)
    if int(t.item()) == -1:
        raise ValueError("BUG! Expected rank_cond to be true for at least one process. "
                         "This indicates a bug in PyTorch, please report an issue.")
    return int(t.item())


def _broadcast(ddp, tensors, rank):
    group = ddp.join_process_group
    src = dist.get_global_rank(group, rank)
    for t in tensors:
        dist.broadcast(t.detach(), src, group=group)


class _DDPJoinHook(JoinHook):
    def __init__(self, ddp, divide_by_initial_world_size):
        self.ddp = ddp
        self.divide = divide_by_initial_world_size
        ddp.join_device = torch.device("cpu")
        ddp.join_process_group = ddp._reducer_join(self._before_forward) \
            or dist.group.WORLD

    def _before_forward(self, synced):
        """What a rank with inputs does first: what its gradients are divided by
        (None: by all), and the rank whose buffers are taken."""
        work = Join.notify_join_context(self.ddp)
        count = work.count() if work is not None and not self.divide else None
        if not self.ddp._join_config.enable:
            return None, None
        _sum(1 if synced else 0, self.ddp)
        return count, _highest(self.ddp, True) if self.ddp._reducer_buffers() else None

    def main_hook(self):
        synced = _sum(0, self.ddp) != 0
        source = _highest(self.ddp, False) if self.ddp._reducer_buffers() else None
        self.ddp._reducer_shadow(synced, source)

    def post_hook(self, is_last_joiner):
        rank = _highest(self.ddp, is_last_joiner)
        _broadcast(self.ddp, self.ddp.module.state_dict().values(), rank)
