# SPDX-License-Identifier: MIT
"""Schedulers that come round, and that move the momentum with the rate."""
import math
import types

from torch.optim.lr_scheduler import (LRScheduler, _check_optimizer,
                                      _for_groups, _set_value, _values)

__name__ = "torch.optim.lr_scheduler"


class _MomentumCycle(LRScheduler):
    def _take_momentum(self, optimizer, base, high, last_epoch):
        defaults = optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError("optimizer must support momentum or beta1 with "
                             "`cycle_momentum` option enabled")
        self.use_beta1 = "betas" in defaults
        base = _for_groups("base_momentum", optimizer, base)
        high = _for_groups("max_momentum", optimizer, high)
        if last_epoch == -1:
            for m, b, group in zip(high, base, optimizer.param_groups):
                self._set_momentum(group, m)
                group["max_momentum"] = m
                group["base_momentum"] = b
        return base, high

    def _set_momentum(self, group, value):
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_MomentumCycle):
    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000,
                 step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True,
                 base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                _set_value(group, "lr", lr)
        self.max_lrs = _for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") \
                and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom, self.scale_mode = scale_fn, scale_mode
        if scale_fn is None:
            self.scale_mode = ("iterations" if mode == "exp_range"
                               else "cycle")
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._take_momentum(
                optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma ** x

    def get_lr(self):
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = (x / self.step_ratio if x <= self.step_ratio
                else (x - 1) / (self.step_ratio - 1))
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        lrs = [low + (high - low) * part * self.scale_fn(at)
               for low, high in zip(self.base_lrs, self.max_lrs)]
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums,
                                        self.max_momentums,
                                        self.optimizer.param_groups):
                self._set_momentum(
                    group, high - (high - low) * part * self.scale_fn(at))
        return lrs

    def state_dict(self):
        state = super().state_dict()
        f = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = (
            None if f is None or isinstance(f, types.FunctionType)
            else f.__dict__.copy())
        return state

    def load_state_dict(self, state_dict):
        saved = state_dict["_scale_fn_custom"]
        super().load_state_dict({key: value for key, value
                                 in state_dict.items()
                                 if key != "_scale_fn_custom"})
        if saved is not None:
            self._scale_fn_custom.__dict__.update(saved)


class CosineAnnealingWarmRestarts(LRScheduler):
    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(
                f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got "
                             f"{eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min, self.T_cur = eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        return [self.eta_min + (base - self.eta_min)
                * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
                for base in self.base_lrs]

    def _place(self, epoch):
        """T_cur and T_i of any epoch."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1,
                             self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** n - 1) \
                / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** n

    def step(self, epoch=None):
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            values = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values):
            _set_value(group, "lr", lr)
        self._last_lr = _values(self.optimizer, "lr")


def _positive(name, value):
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


class OneCycleLR(_MomentumCycle):
    _made_for = "total_steps"

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None,
                 steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos",
                 cycle_momentum=True, base_momentum=0.85, max_momentum=0.95,
                 div_factor=25.0, final_div_factor=1e4, three_phase=False,
                 last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is not None:
            self.total_steps = _positive("total_steps", total_steps)
        elif epochs is not None and steps_per_epoch is not None:
            self.total_steps = _positive("epochs", epochs) \
                * _positive("steps_per_epoch", steps_per_epoch)
        else:
            raise ValueError("You must define either total_steps OR (epochs "
                             "AND steps_per_epoch)")
        self._set_phases(pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError("Expected float between 0 and 1 pct_start, but "
                             f"got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or "
                             f"'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        max_lrs = _for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for high, group in zip(max_lrs, optimizer.param_groups):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._take_momentum(optimizer, base_momentum, max_momentum,
                                last_epoch)
        super().__init__(optimizer, last_epoch)

    def _set_phases(self, start, three):
        up = ["initial_lr", "max_lr", "max_momentum", "base_momentum"]
        ends = [[float(start * self.total_steps) - 1] + up]
        if three:
            ends.append([float(2 * start * self.total_steps) - 2, "max_lr",
                         "initial_lr", "base_momentum", "max_momentum"])
            ends.append([self.total_steps - 1, "initial_lr", "min_lr",
                         "max_momentum", "max_momentum"])
        else:
            ends.append([self.total_steps - 1, "max_lr", "min_lr",
                         "base_momentum", "max_momentum"])
        keys = ["end_step", "start_lr", "end_lr", "start_momentum",
                "end_momentum"]
        self._schedule_phases = [dict(zip(keys, row)) for row in ends]

    def _anneal_func(self, start, end, part):
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self):
        self._warn_outside_step()
        now, lrs = self.last_epoch, []
        if now > self.total_steps:
            raise ValueError(
                f"Tried to step {now} times. The specified number of total "
                f"steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if now <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        part = (now - start) / (end - start)
        for group in self.optimizer.param_groups:
            lrs.append(self._anneal_func(group[phase["start_lr"]],
                                         group[phase["end_lr"]], part))
            if self.cycle_momentum:
                self._set_momentum(group, self._anneal_func(
                    group[phase["start_momentum"]],
                    group[phase["end_momentum"]], part))
        return lrs
