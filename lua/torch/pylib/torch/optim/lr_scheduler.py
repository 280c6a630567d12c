# SPDX-License-Identifier: MIT
"""torch.optim.lr_scheduler: learning rates over time, as classes that a
program can derive from.

A rate is made of the group's present rate where it can be, so that schedulers
of one optimizer multiply; the order of operations is PyTorch's, to the bit.
"""
import math
import types
import warnings
from bisect import bisect_right
from collections import Counter

import _schedules
from torch import Tensor
from torch.optim import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being "
    "deprecated where possible. Please use `scheduler.step()` to step the "
    "scheduler. During the deprecation, if epoch is different from None, the "
    "closed form is used instead of the new chainable form, where available. "
    "Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose.")
DOCS = ("https://pytorch.org/docs/stable/optim.html"
        "#how-to-adjust-learning-rate")


def _values(optimizer, key):
    """The value of every group; a tensor's is copied."""
    return [g[key].clone() if isinstance(g[key], Tensor) else g[key]
            for g in optimizer.param_groups]


def _set_value(group, key, value):
    if isinstance(group[key], Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


def _for_groups(name, optimizer, value):
    """`value` of an argument for each group."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * groups
    elif len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {groups}.")
    return [v.clone() if isinstance(v, Tensor) else v for v in value]


def _check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


class LRScheduler:
    _get_lr_called_within_step = False
    _is_initial = False
    _made_for = None                    # the attribute with the number of steps
    _by_rate = False                    # its next rate needs the present one only

    def __init__(self, optimizer, last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                lr = group["lr"]
                group.setdefault("initial_lr", lr.clone()
                                 if isinstance(lr, Tensor) else lr)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] "
                    "when resuming scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run "
                    "(not recommended)")
        self.base_lrs = _values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        if not hasattr(optimizer, "_opt_called"):
            optimizer._opt_called = False
            optimizer.register_step_post_hook(_note_step)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        return {key: value for key, value in self.__dict__.items()
                if key != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    def step(self, epoch=None):
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called",
                                                 True):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before "
                "`optimizer.step()`. In PyTorch 1.1.0 and later, you should "
                "call them in the opposite order: `optimizer.step()` before "
                "`lr_scheduler.step()`.  Failure to do this will result in "
                "PyTorch skipping the first value of the learning rate "
                f"schedule. See more details at {DOCS}", UserWarning,
                stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        restored = (_schedules.restored_rates(self.optimizer) and not self._is_initial
                    and not self._by_rate and _values(self.optimizer, "lr"))
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = epoch is not None and hasattr(self, "_get_closed_form_lr")
            values = self._get_closed_form_lr() if closed else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            _set_value(group, "lr", lr)
        if restored and epoch is None:
            self._compare_rates(restored, values)
        self._last_lr = _values(self.optimizer, "lr")
        if self._made_for and isinstance(getattr(self, self._made_for), (int, float)):
            _schedules.note_step(getattr(self, self._made_for), self.last_epoch)

    def _compare_rates(self, restored, values):
        """The optimizer went on with the rates of a checkpoint: the scheduler
        should have them from there as well."""
        for had, own, new in zip(restored, self._last_lr, values):
            if abs(had - own) > 1e-9 * abs(had):
                _schedules.note_fresh(
                    f"the optimizer was restored with the rate {had:.6g}; the "
                    f"scheduler, which set {own:.6g} before, takes this step for "
                    f"its number {self.last_epoch} and sets {new:.6g}")
                return

    def _warn_outside_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the "
                          "scheduler, please use `get_last_lr()`.",
                          UserWarning, stacklevel=2)

    # What most schedulers are made of.
    def _kept(self):
        return _values(self.optimizer, "lr")

    def _times(self, factor):
        return [g["lr"] * factor for g in self.optimizer.param_groups]


def _note_step(optimizer, args, kwargs):
    optimizer._opt_called = True


class _LRScheduler(LRScheduler):
    pass


class _FunctionLR(LRScheduler):
    """A scheduler whose factors come from functions of the program."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [lr_lambda] * groups
        elif len(lr_lambda) != groups:
            raise ValueError(
                f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        else:
            self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items()
                 if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [
            None if isinstance(f, types.FunctionType) else f.__dict__.copy()
            for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update({key: value for key, value in state_dict.items()
                              if key != "lr_lambdas"})
        for own, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                own.__dict__.update(saved)


class LambdaLR(_FunctionLR):
    def get_lr(self):
        self._warn_outside_step()
        return [base * f(self.last_epoch)
                for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_FunctionLR):
    _by_rate = True

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial:
            return self._kept()
        return [g["lr"] * f(self.last_epoch)
                for f, g in zip(self.lr_lambdas, self.optimizer.param_groups)]


class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._kept()
        return self._times(self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size)
                for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._kept()
        return self._times(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()),
                              self.last_epoch)
        return [base * self.gamma ** passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5,
                 last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be "
                             "between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._times(self.factor)
        if self.last_epoch != self.total_iters:
            return self._kept()
        return self._times(1.0 / self.factor)

    def _get_closed_form_lr(self):
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor))
                for base in self.base_lrs]


class LinearLR(LRScheduler):
    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0,
                 total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be "
                             "greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be "
                             "between 0 and 1.")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._times(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._kept()
        span = self.end_factor - self.start_factor
        return self._times(1.0 + span / (self.total_iters * self.start_factor
                                         + (self.last_epoch - 1) * span))

    def _get_closed_form_lr(self):
        span = self.end_factor - self.start_factor
        done = min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + span * done / self.total_iters)
                for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    _by_rate = True

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        return self._kept() if self._is_initial else self._times(self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    _made_for = "total_iters"

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._kept()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._times((now / before) ** self.power)

    def _get_closed_form_lr(self):
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    _made_for = "T_max"

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        low, last, groups = (self.eta_min, self.last_epoch,
                             self.optimizer.param_groups)
        if self._is_initial:
            return self._kept()
        if self._step_count == 1 and last > 0:
            return [low + (base - low)
                    * (1 + math.cos(last * math.pi / self.T_max)) / 2
                    for base in self.base_lrs]
        if (last - 1 - self.T_max) % (2 * self.T_max) == 0:   # at the bottom
            return [g["lr"] + (base - low)
                    * (1 - math.cos(math.pi / self.T_max)) / 2
                    for base, g in zip(self.base_lrs, groups)]
        now = 1 + math.cos(math.pi * last / self.T_max)
        before = 1 + math.cos(math.pi * (last - 1) / self.T_max)
        return [now / before * (g["lr"] - low) + low for g in groups]

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min)
                * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
                for base in self.base_lrs]


def _check_members(owner, optimizer, schedulers):
    name = type(owner).__name__
    for i, one in enumerate(schedulers):
        if not hasattr(one, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as "
                            "its attribute.")
        if isinstance(one, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it "
                "requires additional kwargs to be specified when calling "
                f"`step`, but got one at index {i} in the given schedulers "
                "sequence.")
        if optimizer is not one.optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same "
                f"optimizer, but got scheduler {type(one).__name__} at index "
                f"{i} has {one.optimizer}, which is different from "
                f"{type(optimizer).__name__}.")


class _GroupOfSchedulers(LRScheduler):
    """Schedulers that are stepped by another; their states are in its own."""

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items()
                 if key not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [s.state_dict() for s in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update({key: value for key, value in state_dict.items()
                              if key != "_schedulers"})
        for own, saved in zip(self._schedulers, state_dict["_schedulers"]):
            own.load_state_dict(saved)


class SequentialLR(_GroupOfSchedulers):
    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one "
                             "scheduler, but got no scheduler.")
        _check_members(self, optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided "
                "to be one more than the number of milestone points, but got "
                f"number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each has set its first rate; only the one that is due may.
        for group in optimizer.param_groups:
            _set_value(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = self._schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = schedulers[bisect_right(milestones, 0)].get_last_lr()

    def recursive_undo(self, sched=None):
        one = self if sched is None else sched
        if hasattr(one, "_schedulers"):
            for s in one._schedulers:
                self.recursive_undo(s)
        elif hasattr(one, "last_epoch"):
            one.last_epoch -= 1

    def step(self):
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        due = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            due._update_lr(0)
        else:
            due.step()
        self._last_lr = due.get_last_lr()


class ChainedScheduler(_GroupOfSchedulers):
    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one "
                             "scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        _check_members(self, optimizer, schedulers)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = _values(optimizer, "lr")

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = _values(self.optimizer, "lr")


class ReduceLROnPlateau(LRScheduler):
    def __init__(self, optimizer, mode="min", factor=0.1, patience=10,
                 threshold=1e-4, threshold_mode="rel", cooldown=0, min_lr=0,
                 eps=1e-8):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != len(optimizer.param_groups):
                raise ValueError(
                    f"expected {len(optimizer.param_groups)} min_lrs, got "
                    f"{len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * len(optimizer.param_groups)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = _values(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self):
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    def _init_is_better(self, mode, threshold, threshold_mode):
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode
                             + " is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold = mode, threshold
        self.threshold_mode = threshold_mode

    def is_better(self, a, best):
        if self.threshold_mode == "rel":
            edge = (best * (1.0 - self.threshold) if self.mode == "min"
                    else best * (self.threshold + 1.0))
        else:
            edge = (best - self.threshold if self.mode == "min"
                    else best + self.threshold)
        return a < edge if self.mode == "min" else a > edge

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def step(self, metrics, epoch=None):
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = _values(self.optimizer, "lr")

    def _reduce_lr(self, epoch):
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    "The number of param groups in the `optimizer` "
                    f"({len(groups)}) differs from when `ReduceLROnPlateau` "
                    f"was initialized ({len(self.min_lrs)}), usually due to a "
                    "new param group being added to the optimizer. Please "
                    "modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups.")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for i, group in enumerate(groups):
            old = float(group["lr"])
            new = max(old * self.factor, self.min_lrs[i])
            if old - new > self.eps:
                _set_value(group, "lr", new)

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)


# At the end: these derive from what is above.
from torch.optim._lr_cycles import (CosineAnnealingWarmRestarts,  # noqa: E402
                                    CyclicLR, OneCycleLR)

__all__ = ["LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR",
           "ConstantLR", "LinearLR", "ExponentialLR", "SequentialLR",
           "CosineAnnealingLR", "ChainedScheduler", "ReduceLROnPlateau",
           "CyclicLR", "CosineAnnealingWarmRestarts", "OneCycleLR",
           "PolynomialLR", "LRScheduler"]
