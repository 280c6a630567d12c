# SPDX-License-Identifier: MIT
"""torch.distributions.kl: divergences, and dimensions taken as one event."""
import math

import torch
from torch.distributions import constraints
from torch.distributions.continuous import (Exponential, Laplace,
                                            MultivariateNormal, Normal,
                                            Uniform)
from torch.distributions.discrete import (Bernoulli, Categorical,
                                          OneHotCategorical, Poisson)
from torch.distributions.distribution import Distribution


def _sum_rightmost(value, dims):
    if dims == 0:
        return value
    return value.reshape(value.shape[:-dims] + (-1,)).sum(-1)


class Independent(Distribution):
    arg_constraints = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims,
                 validate_args=None):
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution."
                f"batch_shape), actual {reinterpreted_batch_ndims} vs "
                f"{len(batch)}")
        shape = batch + base_distribution.event_shape
        cut = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:],
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        cut = len(self._batch_shape)
        tail = self.base_dist.batch_shape[cut:]
        return Independent(
            self.base_dist.expand(torch.Size(batch_shape) + tail),
            self.reinterpreted_batch_ndims)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)
    support = property(lambda self: self.base_dist.support)

    def sample(self, sample_shape=torch.Size()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return _sum_rightmost(self.base_dist.log_prob(value),
                              self.reinterpreted_batch_ndims)

    def entropy(self):
        return _sum_rightmost(self.base_dist.entropy(),
                              self.reinterpreted_batch_ndims)

    def __repr__(self):
        return (f"Independent({self.base_dist}, "
                f"{self.reinterpreted_batch_ndims})")


_known = {}                             # (type of p, type of q): function


def register_kl(type_p, type_q):
    if not (isinstance(type_p, type) and issubclass(type_p, Distribution)):
        raise TypeError(f"Expected type_p to be a Distribution subclass but "
                        f"got {type_p}")
    if not (isinstance(type_q, type) and issubclass(type_q, Distribution)):
        raise TypeError(f"Expected type_q to be a Distribution subclass but "
                        f"got {type_q}")

    def decorator(function):
        _known[type_p, type_q] = function
        return function

    return decorator


def _find(type_p, type_q):
    """The function of the nearest classes, those of p first."""
    for p in type_p.__mro__:
        for q in type_q.__mro__:
            if (p, q) in _known:
                return _known[p, q]
    return None


def kl_divergence(p, q):
    function = _find(type(p), type(q))
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and "
            f"q type {type(q).__name__}")
    return function(p, q)


@register_kl(Normal, Normal)
def _normal_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    far = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + far - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p, q):
    softplus = torch.nn.functional.softplus
    a = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    a = torch.where(q.probs == 0, math.inf, a)
    a = torch.where(p.probs == 0, 0.0, a)
    b = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    b = torch.where(q.probs == 1, math.inf, b)
    b = torch.where(p.probs == 1, 0.0, b)
    return a + b


@register_kl(Categorical, Categorical)
def _categorical_categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t = torch.where((q.probs == 0).expand_as(t), math.inf, t)
    t = torch.where((p.probs == 0).expand_as(t), 0.0, t)
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_one_hot(p, q):
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(Exponential, Exponential)
def _exponential_exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace_laplace(p, q):
    ratio, far = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + far / q.scale + ratio * torch.exp(-far / p.scale) - 1


@register_kl(Poisson, Poisson)
def _poisson_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform_uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), math.inf, result)


@register_kl(Independent, Independent)
def _independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist),
                          p.reinterpreted_batch_ndims)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_multivariate(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with "
                         "different event shapes cannot be computed")
    far = q._half_log_det() - p._half_log_det()
    a, b = q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril
    spread = torch.linalg.solve_triangular(a, b, upper=False).pow(2).sum(
        (-2, -1))
    diff = torch.linalg.solve_triangular(
        a, (q.loc - p.loc).unsqueeze(-1), upper=False)
    term = spread + diff.squeeze(-1).pow(2).sum(-1)
    return far + 0.5 * (term - p.event_shape[0])
