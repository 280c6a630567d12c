# SPDX-License-Identifier: MIT
"""Distributions of torch.distributions whose samples are counted."""
import math
from numbers import Number

import torch
from torch.distributions import constraints
from torch.distributions.distribution import (Distribution, _Chances,
                                              broadcast_all)
from torch.nn.functional import binary_cross_entropy_with_logits

__name__ = "torch.distributions"


class Bernoulli(_Chances):
    arg_constraints = {"probs": constraints.unit_interval,
                       "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _is_binary = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take_one(probs, logits, validate_args)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(shape))

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value,
                                                 reduction="none")

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs,
                                                reduction="none")

    def enumerate_support(self, expand=True):
        return _all_of(self, 2, self._param.dtype, expand)


def _all_of(self, n, dtype, expand):
    values = torch.arange(n, dtype=dtype)
    values = values.view((-1,) + (1,) * len(self._batch_shape))
    if expand:
        values = values.expand((-1,) + tuple(self._batch_shape))
    return values


class Categorical(_Chances):
    arg_constraints = {"probs": constraints.simplex,
                       "logits": constraints.real_vector}
    has_enumerate_support = True
    _param_dims = 1

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        name = "logits" if probs is None else "probs"
        param = logits if probs is None else probs
        if param.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least "
                             "one-dimensional.")
        if probs is None:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        else:
            self.probs = probs / probs.sum(-1, keepdim=True)
        self._num_events = param.size()[-1]
        Distribution.__init__(self, param.size()[:-1],
                              validate_args=validate_args)

    @property
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self):
        return torch.full(self._extended_shape(), math.nan,
                          dtype=self.probs.dtype)

    variance = property(lambda self: self.mean)
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape=torch.Size()):
        sample_shape = torch.Size(sample_shape)
        probs = self.probs.reshape(-1, self._num_events)
        drawn = torch.multinomial(probs, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logs = torch.broadcast_tensors(value, self.logits)
        return logs.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        low = torch.finfo(self.logits.dtype).min
        return -(torch.clamp(self.logits, min=low) * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        return _all_of(self, self._num_events, torch.long, expand)


class OneHotCategorical(_Chances):
    arg_constraints = Categorical.arg_constraints
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        Distribution.__init__(self, self._categorical.batch_shape,
                              self._categorical.param_shape[-1:],
                              validate_args=validate_args)

    def __getattr__(self, name):
        if name in ("probs", "logits"):
            return getattr(self._categorical, name)
        return super().__getattr__(name)

    def expand(self, batch_shape, _instance=None):
        param = "probs" if "probs" in self._categorical.__dict__ else "logits"
        own = getattr(self, param)
        return type(self)(**{param: own.expand(
            torch.Size(batch_shape) + self._event_shape)})

    _param = property(lambda self: self._categorical._param)
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        return torch.nn.functional.one_hot(
            self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs)

    def sample(self, sample_shape=torch.Size()):
        drawn = self._categorical.sample(torch.Size(sample_shape))
        return torch.nn.functional.one_hot(
            drawn, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self._event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype)
        values = values.view((n,) + (1,) * len(self._batch_shape) + (n,))
        if expand:
            values = values.expand((n,) + tuple(self._batch_shape) + (n,))
        return values

    def __repr__(self):
        return f"{type(self).__name__}()"


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):
        samples = self.sample(sample_shape)
        return samples + (self.probs - self.probs.detach())


class Poisson(Distribution):
    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        self.rate, = broadcast_all(rate)
        super().__init__(torch.Size() if isinstance(rate, Number)
                         else self.rate.size(), validate_args=validate_args)

    mean = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())
    variance = property(lambda self: self.rate)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.poisson(self.rate.expand(
                self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class Geometric(_Chances):
    arg_constraints = {"probs": constraints.unit_interval,
                       "logits": constraints.real}
    support = constraints.nonnegative_integer
    _is_binary = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take_one(probs, logits, validate_args)
        if self._validate_args and probs is not None \
                and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(param).__name__} of shape "
                f"{tuple(param.shape)}) of distribution {self!r} to be "
                f"positive but found invalid values:\n{param}")

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: torch.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        tiny = torch.finfo(self.probs.dtype).tiny
        with torch.no_grad():
            u = self.probs.new_empty(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone()
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none") / self.probs
