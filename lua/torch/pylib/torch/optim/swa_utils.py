# SPDX-License-Identifier: MIT
"""torch.optim.swa_utils: models whose parameters are averages of another's."""
import math
from copy import deepcopy
from itertools import chain

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LRScheduler, _for_groups


def get_ema_avg_fn(decay=0.999):
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay=0.999):
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for average, now, fractional in _pairs(ema_param_list, current_param_list):
            if fractional:
                average.lerp_(now, 1 - decay)
            else:
                average.copy_(average * decay + now * (1 - decay))

    return ema_update


def get_swa_avg_fn():
    @torch.no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) \
            / (num_averaged + 1)

    return swa_update


def get_swa_multi_avg_fn():
    @torch.no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        for average, now, fractional in _pairs(averaged_param_list,
                                               current_param_list):
            if fractional:
                average.lerp_(now, 1 / (int(num_averaged) + 1))
            else:               # as PyTorch does: refused, whole numbers do not divide
                average.addcdiv_(now - average, num_averaged + 1)

    return swa_update


def _pairs(averages, models):
    """Averages and what they are of; first those in which fractions can be kept,
    then counts and masks."""
    def is_fractional(pair):
        return torch.is_floating_point(pair[0]) or torch.is_complex(pair[0])

    for a, b in sorted(zip(averages, models), key=is_fractional, reverse=True):
        yield a, b, is_fractional((a, b))


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please "
                         "provide a value in [0,1] range.")


class AveragedModel(nn.Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None,
                 use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should "
                                 "be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long))
        self.avg_fn, self.multi_avg_fn = avg_fn, multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        if self.use_buffers:
            return list(chain(model.parameters(), model.buffers()))
        return list(model.parameters())

    @torch.no_grad()
    def update_parameters(self, model):
        mine, now = self._averaged(self.module), self._averaged(model)
        n = self.n_averaged
        if n == 0:
            for a, b in zip(mine, now):
                a.copy_(b)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(mine, now, n)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for a, b in zip(mine, now):
                a.copy_(average(a, b, n))
        if not self.use_buffers:
            for a, b in zip(self.module.buffers(), model.buffers()):
                a.copy_(b)
        self.n_averaged += 1


@torch.no_grad()
def update_bn(loader, model, device=None):
    """Statistics of batch norms made anew: the plain average (momentum None)
    over all batches that the loader gives."""
    kinds = nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d
    norms = [(m, m.momentum) for m in model.modules() if isinstance(m, kinds)]
    if len(norms) == 0:
        return
    mode = model.training
    for norm, _ in norms:
        norm.reset_running_stats()
        norm.momentum = None
    model.train(True)
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for norm, momentum in norms:
        norm.momentum = momentum
    model.train(mode)


class SWALR(LRScheduler):
    """From the optimizer's rate to swa_lr, where it stays."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10,
                 anneal_strategy="cos", last_epoch=-1):
        rates = _for_groups("swa_lr", optimizer, swa_lr)
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or "
                             f"'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError("anneal_epochs must be equal or greater than 0, "
                             f"got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t):
        if self._anneal_strategy == "linear":
            return t
        return (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        epochs = max(1, self.anneal_epochs)
        before = self.anneal_func(max(0, min(1, (step - 1) / epochs)))
        now = self.anneal_func(max(0, min(1, step / epochs)))
        lrs = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = (end if before == 1
                     else (group["lr"] - before * end) / (1 - before))
            lrs.append(end * now + start * (1 - now))
        return lrs
