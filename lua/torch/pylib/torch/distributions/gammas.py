# SPDX-License-Identifier: MIT
"""Distributions of torch.distributions that are made of gamma functions: what is
computed of them is here; to draw from one is refused by name, since the engine
does not draw from PyTorch's gamma and binomial distributions."""
import math
from numbers import Number

import _absent
import torch
from torch.distributions import constraints
from torch.distributions.distribution import (Distribution, _Chances,
                                              _LocationScale, broadcast_all)

__name__ = "torch.distributions"


def _refuse_draw(dist):
    raise _absent.error(f"drawing from torch.distributions.{type(dist).__name__}"
                        " is not part of dtrepl")


class Gamma(_LocationScale):
    arg_constraints = {"concentration": constraints.positive,
                       "rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, concentration, rate, validate_args=None):
        self._pair("concentration", "rate", concentration, rate, validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    def rsample(self, sample_shape=torch.Size(), generator=None):
        _refuse_draw(self)

    def log_prob(self, value):
        value = torch.as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        a = self.concentration
        return (torch.xlogy(a, self.rate) + torch.xlogy(a - 1, value)
                - self.rate * value - torch.lgamma(a))

    def entropy(self):
        a = self.concentration
        return (a - torch.log(self.rate) + torch.lgamma(a)
                + (1.0 - a) * torch.digamma(a))

    def cdf(self, value):
        self._validate_sample(value)
        return torch.special.gammainc(self.concentration, self.rate * value)


class Chi2(Gamma):
    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args)

    df = property(lambda self: self.concentration * 2)


class Dirichlet(Distribution):
    arg_constraints = {"concentration": constraints.independent(
        constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _param_dims = 1

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least "
                             "one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:],
                         validate_args=validate_args)

    def rsample(self, sample_shape=()):
        _refuse_draw(self)

    def log_prob(self, value):
        self._validate_sample(value)
        a = self.concentration
        return (torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1))
                - torch.lgamma(a).sum(-1))

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = torch.nn.functional.one_hot(mode.argmax(dim=-1),
                                             mode.shape[-1]).to(mode)
        flat = (self.concentration < 1).all(dim=-1)
        return torch.where(flat.unsqueeze(-1), corner, mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return (self.concentration * (total - self.concentration)
                / (total.pow(2) * (total + 1)))

    def entropy(self):
        k, a = self.concentration.size(-1), self.concentration
        total = a.sum(-1)
        return (torch.lgamma(a).sum(-1) - torch.lgamma(total)
                - (k - total) * torch.digamma(total)
                - ((a - 1.0) * torch.digamma(a)).sum(-1))


class Beta(Distribution):
    arg_constraints = {"concentration1": constraints.positive,
                       "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        if isinstance(concentration1, Number) \
                and isinstance(concentration0, Number):
            both = torch.tensor([float(concentration1), float(concentration0)])
        else:
            both = torch.stack(broadcast_all(concentration1, concentration0),
                               -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape,
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        return new

    @property
    def concentration1(self):
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1
                                      + self.concentration0)

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return (self.concentration1 * self.concentration0
                / (total.pow(2) * (total + 1)))

    def rsample(self, sample_shape=()):
        _refuse_draw(self)

    def log_prob(self, value):
        self._validate_sample(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()


class StudentT(Distribution):
    arg_constraints = {"df": constraints.positive, "loc": constraints.real,
                       "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.size(), validate_args=validate_args)

    mode = property(lambda self: self.loc)

    @property
    def mean(self):
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def variance(self):
        v = self.scale.pow(2) * self.df / (self.df - 2)
        return v.masked_fill(self.df <= 2, math.inf).masked_fill(
            self.df <= 1, math.nan)

    def rsample(self, sample_shape=torch.Size()):
        _refuse_draw(self)

    def log_prob(self, value):
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        z = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
             + torch.lgamma(0.5 * self.df)
             - torch.lgamma(0.5 * (self.df + 1.0)))
        return -0.5 * (self.df + 1.0) * torch.log1p(y ** 2.0 / self.df) - z

    def entropy(self):
        lbeta = (torch.lgamma(0.5 * self.df) + math.lgamma(0.5)
                 - torch.lgamma(0.5 * (self.df + 1)))
        return (self.scale.log() + 0.5 * (self.df + 1)
                * (torch.digamma(0.5 * (self.df + 1))
                   - torch.digamma(0.5 * self.df))
                + 0.5 * self.df.log() + lbeta)


class Binomial(_Chances):
    arg_constraints = {"total_count": constraints.nonnegative_integer,
                       "probs": constraints.unit_interval,
                       "logits": constraints.real}
    has_enumerate_support = True
    _is_binary = True

    def __init__(self, total_count=1, probs=None, logits=None,
                 validate_args=None):
        self._take(probs, logits)
        name = "logits" if probs is None else "probs"
        total, param = broadcast_all(total_count,
                                     logits if probs is None else probs)
        self.total_count = total.type_as(param)
        self.__dict__[name] = param
        Distribution.__init__(self, param.size(), validate_args=validate_args)

    support = property(lambda self: constraints.integer_interval(
        0, self.total_count))
    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs
                        * (1 - self.probs))

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(
            max=self.total_count)

    def sample(self, sample_shape=torch.Size()):
        _refuse_draw(self)

    def log_prob(self, value):
        self._validate_sample(value)
        n, logits = self.total_count, self.logits
        above = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        normalize = (n * above + n * torch.log1p(torch.exp(-torch.abs(logits)))
                     - torch.lgamma(n + 1))
        return (value * logits - torch.lgamma(value + 1)
                - torch.lgamma(n - value + 1) - normalize)

    def entropy(self):
        log_prob = self.log_prob(self._values("entropy", False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        return self._values("enumerate_support", expand)

    def _values(self, asked, expand):
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError("Inhomogeneous total count not supported "
                                      f"by `{asked}`.")
        values = torch.arange(1 + count, dtype=self._param.dtype)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand \
            else values
