# SPDX-License-Identifier: MIT
"""torch.distributions.transforms: functions of each element that have an inverse;
the others are refused by name."""
import math

import torch
from torch.distributions import constraints
from torch.nn.functional import softplus


class Transform:
    bijective = False
    domain = codomain = constraints.real
    sign = 1

    def __init__(self, cache_size=0):
        self._cache_size = cache_size
        self._last = None

    @property
    def inv(self):
        return _Inverse(self)

    def __call__(self, x):
        if not self._cache_size:
            return self._call(x)
        if self._last and self._last[0] is x:
            return self._last[1]
        y = self._call(x)
        self._last = x, y
        return y

    def _inv_call(self, y):
        if not self._cache_size:
            return self._inverse(y)
        if self._last and self._last[1] is y:
            return self._last[0]
        x = self._inverse(y)
        self._last = x, y
        return x

    def log_abs_det_jacobian(self, x, y):
        raise NotImplementedError

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    bijective = True

    def __init__(self, of):
        super().__init__()
        self._of = of

    domain = property(lambda self: self._of.codomain)
    codomain = property(lambda self: self._of.domain)
    sign = property(lambda self: self._of.sign)
    inv = property(lambda self: self._of)

    def __eq__(self, other):
        return isinstance(other, _Inverse) and self._of == other._of

    def __hash__(self):
        return id(self._of)

    def __repr__(self):
        return f"_InverseTransform({self._of!r})"

    def __call__(self, x):
        return self._of._inv_call(x)

    def _inv_call(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = parts

    bijective = property(lambda self: all(p.bijective for p in self.parts))

    @property
    def domain(self):
        return self.parts[0].domain if self.parts else constraints.real

    @property
    def codomain(self):
        return self.parts[-1].codomain if self.parts else constraints.real

    @property
    def sign(self):
        sign = 1
        for p in self.parts:
            sign = sign * p.sign
        return sign

    @property
    def inv(self):
        return ComposeTransform([p.inv for p in reversed(self.parts)])

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) \
            and self.parts == other.parts

    def __hash__(self):
        return id(self)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        return self.inv(y)

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return torch.zeros_like(x)
        points = [x]
        for part in self.parts[:-1]:
            points.append(part(points[-1]))
        points.append(y)
        total = 0
        for part, a, b in zip(self.parts, points, points[1:]):
            total = total + part.log_abs_det_jacobian(a, b)
        return total

    def __repr__(self):
        return "ComposeTransform(\n    " + ",\n    ".join(
            [repr(p) for p in self.parts]) + "\n)"


class ExpTransform(Transform):
    bijective = True
    codomain = constraints.positive

    def __eq__(self, other):
        return isinstance(other, ExpTransform)

    def __hash__(self):
        return id(ExpTransform)

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform(Transform):
    bijective = True
    codomain = constraints.unit_interval

    def __eq__(self, other):
        return isinstance(other, SigmoidTransform)

    def __hash__(self):
        return id(SigmoidTransform)

    def _call(self, x):
        info = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=info.tiny, max=1.0 - info.eps)

    def _inverse(self, y):
        info = torch.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    bijective = True
    codomain = constraints.interval(-1.0, 1.0)

    def __eq__(self, other):
        return isinstance(other, TanhTransform)

    def __hash__(self):
        return id(TanhTransform)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AffineTransform(Transform):
    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        if event_dim != 0:
            raise NotImplementedError("AffineTransform(event_dim=) is not part "
                                      "of dtrepl")
        self.loc, self.scale = loc, scale

    @property
    def sign(self):
        if isinstance(self.scale, torch.Tensor):
            return self.scale.sign()
        return 1 if self.scale > 0 else -1 if self.scale < 0 else 0

    def __eq__(self, other):
        def same(a, b):
            if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
                return bool(torch.as_tensor(a == b).all())
            return a == b
        return isinstance(other, AffineTransform) \
            and same(self.loc, other.loc) and same(self.scale, other.scale)

    def __hash__(self):
        return id(self)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        if isinstance(scale, torch.Tensor):
            return torch.abs(scale).log().expand(x.shape)
        return torch.full_like(x, math.log(abs(scale)))


identity_transform = ComposeTransform([])
