# SPDX-License-Identifier: MIT
"""torch.distributions.constraints: what values a parameter or a sample may
have."""
import torch


class Constraint:
    is_discrete = False
    event_dim = 0

    def __init__(self, name, test, event_dim=0, is_discrete=False):
        self._name, self._test = name, test
        self.event_dim, self.is_discrete = event_dim, is_discrete

    def check(self, value):
        return self._test(value)

    def __repr__(self):
        return self._name


def _is_simplex(v):
    return torch.all(v >= 0, dim=-1) & ((v.sum(-1) - 1).abs() < 1e-6)


def _is_one_hot(v):
    return ((v == 0) | (v == 1)).all(-1) & v.sum(-1).eq(1)


def _is_positive_definite(v):
    symmetric = torch.isclose(v, v.mT, atol=1e-6).all(-2).all(-1)
    return symmetric & torch.linalg.cholesky_ex(v).info.eq(0)


def _is_lower_cholesky(v):
    lower = (v.tril() == v).view(v.shape[:-2] + (-1,)).min(-1)[0].bool()
    return lower & (v.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


real = Constraint("Real()", lambda v: v == v)
real_vector = Constraint("IndependentConstraint(Real(), 1)",
                         lambda v: (v == v).all(-1), 1)
positive = Constraint("GreaterThan(lower_bound=0.0)", lambda v: 0.0 < v)
nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda v: 0.0 <= v)
unit_interval = Constraint("Interval(lower_bound=0.0, upper_bound=1.0)",
                           lambda v: (0.0 <= v) & (v <= 1.0))
boolean = Constraint("Boolean()", lambda v: (v == 0) | (v == 1), 0, True)
nonnegative_integer = Constraint("IntegerGreaterThan(lower_bound=0)",
                                 lambda v: (v % 1 == 0) & (v >= 0), 0, True)
simplex = Constraint("Simplex()", _is_simplex, 1)
one_hot = Constraint("OneHot()", _is_one_hot, 1, True)
positive_definite = Constraint("PositiveDefinite()", _is_positive_definite, 2)
lower_cholesky = Constraint("LowerCholesky()", _is_lower_cholesky, 2)


def independent(base, dims):
    """The last dims of what is checked are one value."""
    def check(v):
        inside = base.check(v)
        return inside.flatten(inside.dim() - dims).all(-1) if dims else inside
    return Constraint(f"IndependentConstraint({base!r}, {dims})", check,
                      base.event_dim + dims, base.is_discrete)


def greater_than(low):
    return Constraint(f"GreaterThan(lower_bound={low})", lambda v: low < v)


def less_than(high):
    return Constraint(f"LessThan(upper_bound={high})", lambda v: v < high)


def interval(low, high):
    return Constraint(f"Interval(lower_bound={low}, upper_bound={high})",
                      lambda v: (low <= v) & (v <= high))


def integer_interval(low, high):
    return Constraint(
        f"IntegerInterval(lower_bound={low}, upper_bound={high})",
        lambda v: (v % 1 == 0) & (low <= v) & (v <= high), 0, True)

