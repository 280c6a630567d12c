# SPDX-License-Identifier: MIT
"""torch.distributions.distribution: what every distribution has."""
from numbers import Number

import torch
from torch.distributions import constraints


def broadcast_all(*values):
    """Numbers and tensors as tensors of one shape; numbers take the dtype of
    the first tensor."""
    first = next((v for v in values if isinstance(v, torch.Tensor)), None)
    kind = torch.get_default_dtype() if first is None else first.dtype
    return torch.broadcast_tensors(*[
        v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=kind)
        for v in values])


def _clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    safe = _clamp_probs(probs)
    if is_binary:
        return torch.log(safe) - torch.log1p(-safe)
    return torch.log(safe)


def logits_to_probs(logits, is_binary=False):
    if is_binary:
        return torch.sigmoid(logits)
    return torch.nn.functional.softmax(logits, dim=-1)


class Distribution:
    has_rsample = False
    has_enumerate_support = False
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value):
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(),
                 validate_args=None):
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            if name not in self.__dict__:
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of "
                    f"shape {tuple(value.shape)}) of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found "
                    f"invalid values:\n{value}")

    # The parameters, whose shapes end with those numbers of dimensions.
    _event_dims = {}

    def expand(self, batch_shape, _instance=None):
        if _instance is None and not type(self).__module__.startswith(
                "torch.distributions"):
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of a distribution that "
                "defines a custom __init__ method must also define a custom "
                ".expand() method.")
        new = object.__new__(type(self)) if _instance is None \
            else _instance
        batch_shape = torch.Size(batch_shape)
        for name, value in self.__dict__.items():
            if isinstance(value, torch.Tensor):
                own = self._event_dims.get(name, self._param_dims)
                tail = value.shape[value.dim() - own:]
                value = value.expand(batch_shape + tail)
            new.__dict__[name] = value
        new._batch_shape = batch_shape
        return new

    _param_dims = 0

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def mode(self):
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        raise NotImplementedError

    def log_prob(self, value):
        raise NotImplementedError

    def cdf(self, value):
        raise NotImplementedError

    def icdf(self, value):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        raise NotImplementedError

    def perplexity(self):
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size(tuple(sample_shape) + tuple(self._batch_shape)
                          + tuple(self._event_shape))

    def _validate_sample(self, value):
        if not self._validate_args:
            return
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event, shape = self._event_shape, value.size()
        if shape[len(shape) - len(event):] != event:
            raise ValueError("The right-most size of value must match "
                             f"event_shape: {shape} vs {event}.")
        expected = torch.Size(tuple(self._batch_shape) + tuple(event))
        for i, j in zip(reversed(shape), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError("Value is not broadcastable with batch_shape+"
                                 f"event_shape: {shape} vs {expected}.")
        support = self.support
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape "
                f"{tuple(shape)}) to be within the support ({support!r}) of "
                f"the distribution {self!r}, but found invalid values:\n"
                f"{value}")

    def __repr__(self):
        parts = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                v = self.__dict__[name]
                parts.append(f"{name}: {v if v.numel() == 1 else v.size()}")
        return f"{type(self).__name__}({', '.join(parts)})"


class _Chances(Distribution):
    """A distribution of probs or of logits, each made of the other."""
    _is_binary = False

    def _take(self, probs, logits):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, "
                             "but not both.")

    def _take_one(self, probs, logits, validate_args):
        """One chance an element: a number, or a tensor of any shape."""
        self._take(probs, logits)
        name = "logits" if probs is None else "probs"
        given = logits if probs is None else probs
        param, = broadcast_all(given)
        self.__dict__[name] = param
        Distribution.__init__(self, torch.Size() if isinstance(given, Number)
                              else param.size(), validate_args=validate_args)

    def __getattr__(self, name):
        if name == "probs" and "logits" in self.__dict__:
            self.probs = logits_to_probs(self.logits, self._is_binary)
            return self.probs
        if name == "logits" and "probs" in self.__dict__:
            self.logits = probs_to_logits(self.probs, self._is_binary)
            return self.logits
        raise AttributeError(f"'{type(self).__name__}' object has no "
                             f"attribute '{name}'")

    @property
    def _param(self):
        return self.__dict__.get("probs", self.__dict__.get("logits"))

    @property
    def param_shape(self):
        return self._param.size()


class _LocationScale(Distribution):
    """Two parameters that are broadcast together."""
    has_rsample = True

    def _pair(self, first, second, a, b, validate_args):
        x, y = broadcast_all(a, b)
        self.__dict__[first], self.__dict__[second] = x, y
        numbers = isinstance(a, Number) and isinstance(b, Number)
        Distribution.__init__(self, torch.Size() if numbers else x.size(),
                              validate_args=validate_args)
