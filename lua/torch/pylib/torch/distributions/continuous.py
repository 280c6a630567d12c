# SPDX-License-Identifier: MIT
"""Distributions of torch.distributions whose samples are real numbers."""
import math
from numbers import Number

import torch
from torch.distributions import constraints
from torch.distributions.distribution import (Distribution, _LocationScale,
                                              broadcast_all)

__name__ = "torch.distributions"


def _standard_normal(like, shape):
    return torch.normal(torch.zeros(shape, dtype=like.dtype),
                        torch.ones(shape, dtype=like.dtype))


class _AroundLoc(_LocationScale):
    """Real numbers, as likely above loc as below."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self._pair("loc", "scale", loc, scale, validate_args)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)


class Normal(_AroundLoc):
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape),
                                self.scale.expand(shape))

    def rsample(self, sample_shape=torch.Size()):
        eps = _standard_normal(self.loc, self._extended_shape(sample_shape))
        return self.loc + eps * self.scale

    def log_prob(self, value):
        self._validate_sample(value)
        var = self.scale ** 2
        return (-((value - self.loc) ** 2) / (2 * var) - self.scale.log()
                - math.log(math.sqrt(2 * math.pi)))

    def cdf(self, value):
        self._validate_sample(value)
        return 0.5 * (1 + torch.erf((value - self.loc)
                                    * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * torch.erfinv(2 * value - 1) \
            * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class LogNormal(Normal):
    support = constraints.positive

    @property
    def mean(self):
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    stddev = property(lambda self: self.variance.sqrt())

    def sample(self, sample_shape=torch.Size()):
        return super().sample(sample_shape).exp()

    def rsample(self, sample_shape=torch.Size()):
        return super().rsample(sample_shape).exp()

    def log_prob(self, value):
        self._validate_sample(value)
        log = value.log()
        return -log + self._log().log_prob(log)

    def cdf(self, value):
        self._validate_sample(value)
        return self._log().cdf(value.log())

    def icdf(self, value):
        return super().icdf(value).exp()

    def entropy(self):
        return super().entropy() + self.loc

    def _log(self):
        return Normal(self.loc, self.scale, validate_args=False)

    def __repr__(self):
        return f"{type(self).__name__}()"


class Uniform(_LocationScale):
    def __init__(self, low, high, validate_args=None):
        self._pair("low", "high", low, high, validate_args)

    @property
    def arg_constraints(self):
        return {"low": constraints.less_than(self.high),
                "high": constraints.greater_than(self.low)}

    support = property(lambda self: constraints.interval(self.low, self.high))
    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: math.nan * self.high)
    stddev = property(lambda self: (self.high - self.low) / 12 ** 0.5)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    def rsample(self, sample_shape=torch.Size()):
        part = torch.rand(self._extended_shape(sample_shape),
                          dtype=self.low.dtype)
        return self.low + part * (self.high - self.low)

    def log_prob(self, value):
        self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) \
            * self.high.gt(value).type_as(self.low)
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value):
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return torch.log(self.high - self.low)


class Exponential(Distribution):
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate, validate_args=None):
        self.rate, = broadcast_all(rate)
        super().__init__(torch.Size() if isinstance(rate, Number)
                         else self.rate.size(), validate_args=validate_args)

    mean = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: torch.zeros_like(self.rate))
    stddev = property(lambda self: self.rate.reciprocal())
    variance = property(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value):
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        self._validate_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value):
        return -torch.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - torch.log(self.rate)


class Laplace(_AroundLoc):
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: 2 ** 0.5 * self.scale)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        low = torch.finfo(self.loc.dtype).eps - 1
        u = self.loc.new_empty(shape).uniform_(low, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value):
        self._validate_sample(value)
        return -torch.log(2 * self.scale) \
            - torch.abs(value - self.loc) / self.scale

    def cdf(self, value):
        self._validate_sample(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * torch.expm1(
            -(value - self.loc).abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(
            -2 * term.abs())

    def entropy(self):
        return 1 + torch.log(2 * self.scale)


class MultivariateNormal(Distribution):
    arg_constraints = {"loc": constraints.real_vector,
                       "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True
    _event_dims = {"loc": 1, "covariance_matrix": 2, "precision_matrix": 2,
                   "scale_tril": 2, "_unbroadcasted_scale_tril": 2}

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None,
                 scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix,
                 "scale_tril": scale_tril,
                 "precision_matrix": precision_matrix}
        given = {k: v for k, v in given.items() if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or "
                             "precision_matrix or scale_tril may be "
                             "specified.")
        (name, matrix), = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with "
                             "optional leading batch dimensions")
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand(batch + (-1, -1))
        self.loc = loc.expand(batch + (-1,))
        super().__init__(batch, self.loc.shape[-1:],
                         validate_args=validate_args)
        if name == "scale_tril":
            tril = matrix
        elif name == "covariance_matrix":
            tril = torch.linalg.cholesky(matrix)
        else:
            flipped = torch.linalg.cholesky(torch.flip(matrix, (-2, -1)))
            inverse = torch.transpose(torch.flip(flipped, (-2, -1)), -2, -1)
            tril = torch.linalg.solve_triangular(
                inverse, torch.eye(matrix.shape[-1], dtype=matrix.dtype),
                upper=False)
        self._unbroadcasted_scale_tril = tril

    def __getattr__(self, name):
        if name not in ("covariance_matrix", "precision_matrix",
                        "scale_tril") or "loc" not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no "
                                 f"attribute '{name}'")
        tril = self._unbroadcasted_scale_tril
        shape = self._batch_shape + self._event_shape + self._event_shape
        if name == "covariance_matrix":
            tril = torch.matmul(tril, tril.mT)
        elif name == "precision_matrix":
            tril = torch.cholesky_inverse(tril)
        self.__dict__[name] = tril.expand(shape)
        return self.__dict__[name]

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(
            self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=torch.Size()):
        eps = _standard_normal(self.loc, self._extended_shape(sample_shape))
        return self.loc + torch.matmul(self._unbroadcasted_scale_tril,
                                       eps.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(
            dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        self._validate_sample(value)
        diff, tril = value - self.loc, self._unbroadcasted_scale_tril
        solved = torch.linalg.solve_triangular(
            tril.expand(diff.shape + diff.shape[-1:]), diff.unsqueeze(-1),
            upper=False)
        m = solved.squeeze(-1).pow(2).sum(-1)
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + m) - self._half_log_det()

    def entropy(self):
        h = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) \
            + self._half_log_det()
        return h if len(self._batch_shape) == 0 else h.expand(
            self._batch_shape)
