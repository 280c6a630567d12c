# SPDX-License-Identifier: MIT
"""torch.distributions.transformed_distribution: a distribution seen through
functions of its elements."""
import torch
from torch.distributions.distribution import Distribution
from torch.distributions.kl import _sum_rightmost
from torch.distributions.transforms import Transform


class TransformedDistribution(Distribution):
    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError("transforms must be a Transform or list, but was "
                             f"{transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of "
                             "Transforms")
        self.transforms = transforms
        base = base_distribution
        shape = base.batch_shape + base.event_shape
        event_dim = len(base.event_shape)
        wide = shape
        for t in transforms:
            for v in (getattr(t, "loc", 0), getattr(t, "scale", 1)):
                if isinstance(v, torch.Tensor):
                    wide = torch.broadcast_shapes(wide, v.shape)
        if wide != shape:
            base = base.expand(wide[:len(wide) - event_dim])
        self.base_dist = base
        super().__init__(base.batch_shape, base.event_shape,
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new.base_dist = self.base_dist.expand(batch_shape)
        return new

    @property
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        return self.transforms[-1].codomain

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape=torch.Size()):
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        self._validate_sample(value)
        event_dim, log_prob, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            log_prob = log_prob - _sum_rightmost(
                transform.log_abs_det_jacobian(x, y), event_dim)
            y = x
        return log_prob + self.base_dist.log_prob(y)

    def _monotone(self, value):
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value):
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        self.base_dist._validate_sample(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value):
        value = self.base_dist.icdf(self._monotone(value))
        for transform in self.transforms:
            value = transform(value)
        return value
