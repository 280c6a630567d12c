# SPDX-License-Identifier: MIT
# numpy/_math.py: what is done element by element, the operators of arrays, and
# sums and the like.
import builtins as _py
import torch as _torch

import numpy as _np
from numpy._types import (
    dtype as _dtype, generic, join_types as _join_types,
    join_number as _join_number)
from numpy._array import (
    ndarray, asarray, _BOOL, _FLOAT, _INT, _NUMBERS,
    _axis, _data, _kind, _refuse, _to, _wrap, _shape_text)


def _pair(a, b):
    """Both as tensors, with the type that NumPy joins them to."""
    if isinstance(b, _NUMBERS):
        kind = _join_number(a.dtype, b)
        return _to(a._t, kind), b, kind
    if isinstance(a, _NUMBERS):
        kind = _join_number(b.dtype, a)
        return a, _to(b._t, kind), kind
    a, b = asarray(a), asarray(b)
    kind = _join_types(a.dtype, b.dtype)
    return _to(a._t, kind), _to(b._t, kind), kind


def _broadcast(f, a, b):
    try:
        return f(a, b)
    except RuntimeError:
        if isinstance(a, _torch.Tensor) and isinstance(b, _torch.Tensor):
            raise ValueError("operands could not be broadcast together with "
                             "shapes %s %s " % (_shape_text(a.shape),
                                                _shape_text(b.shape))) from None
        raise


def _binary(f, of=None, whole=None):
    """f of two arrays; `of`: the type of the result; `whole`: the type that
    integers become."""
    def op(a, b):
        if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
            a = asarray(a)
        x, y, kind = _pair(a, b)
        if whole is not None and kind.kind in "bui":
            kind = whole
            x = _to(x, kind) if isinstance(x, _torch.Tensor) else x
            y = _to(y, kind) if isinstance(y, _torch.Tensor) else y
        if not isinstance(x, _torch.Tensor):     # torch wants one of the two to be one
            x = _torch.tensor(x, dtype=kind._torch)
        return _wrap(_broadcast(f, x, y), of or kind)
    return op


class UFuncTypeError(TypeError):
    pass


def _accepts(x):
    return isinstance(x, (ndarray, list, tuple)) or isinstance(x, _NUMBERS)


def _operators(name, f):
    def forward(self, other):
        if isinstance(other, _torch.Tensor):        # torch's again, as there
            return _torch.as_tensor(f(self, asarray(other)))
        return f(self, other) if _accepts(other) else NotImplemented

    def backward(self, other):
        if isinstance(other, _torch.Tensor):
            return _torch.as_tensor(f(asarray(other), self))
        return f(other, self) if _accepts(other) else NotImplemented

    def in_place(self, other):
        out = f(self, other)
        if out.dtype.kind != self.dtype.kind \
           and _join_types(out.dtype, self.dtype) != self.dtype:
            raise UFuncTypeError("Cannot cast ufunc '%s' output from dtype('%s') to "
                                 "dtype('%s') with casting rule 'same_kind'"
                                 % (_UFUNC.get(name, name), out.dtype, self.dtype))
        self._t.copy_(out._t)
        return self
    setattr(ndarray, "__%s__" % name, forward)
    if name in _COMPARISONS:
        return
    setattr(ndarray, "__r%s__" % name, backward)
    setattr(ndarray, "__i%s__" % name, in_place)


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_UFUNC = {"sub": "subtract", "mul": "multiply", "truediv": "divide"}


def _modulo(a, b):
    return _torch.remainder(a, b)


add = _binary(lambda a, b: a + b)
subtract = _binary(lambda a, b: a - b)
multiply = _binary(lambda a, b: a * b)
divide = true_divide = _binary(lambda a, b: a / b, whole=_FLOAT)
floor_divide = _binary(lambda a, b: _torch.floor_divide(a, b))
mod = remainder = _binary(_modulo)
power = _binary(lambda a, b: a ** b)
less = _binary(lambda a, b: a < b, _BOOL)
less_equal = _binary(lambda a, b: a <= b, _BOOL)
greater = _binary(lambda a, b: a > b, _BOOL)
greater_equal = _binary(lambda a, b: a >= b, _BOOL)
equal = _binary(lambda a, b: a == b, _BOOL)
not_equal = _binary(lambda a, b: a != b, _BOOL)
logical_and = _binary(_torch.logical_and, _BOOL)
logical_or = _binary(_torch.logical_or, _BOOL)
bitwise_and = _binary(lambda a, b: a & b)
bitwise_or = _binary(lambda a, b: a | b)
bitwise_xor = _binary(lambda a, b: a ^ b)


def _both(f):
    def g(a, b):
        b = b if isinstance(b, _torch.Tensor) else _torch.tensor(b, dtype=a.dtype)
        return f(a, b)
    return _binary(g)


maximum, minimum = _both(_torch.maximum), _both(_torch.minimum)
arctan2 = _both(_torch.atan2)
for _name, _f in {"add": add, "sub": subtract, "mul": multiply,
                  "truediv": divide, "floordiv": floor_divide, "mod": mod,
                  "pow": power, "and": bitwise_and, "or": bitwise_or,
                  "xor": bitwise_xor, "lt": less, "le": less_equal,
                  "gt": greater, "ge": greater_equal, "eq": equal,
                  "ne": not_equal}.items():
    _operators(_name, _f)


def _unary(f, whole=_FLOAT, of=None):
    def op(x):
        kind = _kind(x)
        if whole is not None and kind.kind in "bui":
            kind = whole
        return _wrap(f(_to(_data(x), kind)), of or kind)
    return op


exp, log, log2, log10, log1p, expm1, sqrt, sin, cos, tan, sinh, cosh, tanh = (
    _unary(getattr(_torch, name)) for name in "exp log log2 log10 log1p expm1 "
    "sqrt sin cos tan sinh cosh tanh".split())
arcsin, arccos, arctan = (_unary(getattr(_torch, name))
                          for name in ("asin", "acos", "atan"))
abs = absolute = _unary(_torch.abs, None)
sign, square, negative = (_unary(getattr(_torch, name), None)
                          for name in ("sign", "square", "neg"))
floor, ceil, rint, trunc = (_unary(f, None) for f in (
    lambda t: t if not t.is_floating_point() else t.floor(),
    lambda t: t if not t.is_floating_point() else t.ceil(),
    lambda t: t if not t.is_floating_point() else t.round(),
    lambda t: t if not t.is_floating_point() else t.trunc()))
isnan = _unary(_torch.isnan, None, _BOOL)
isinf = _unary(_torch.isinf, None, _BOOL)
isfinite = _unary(_torch.isfinite, None, _BOOL)
logical_not = _unary(_torch.logical_not, None, _BOOL)


def round(a, decimals=0, out=None):
    kind = _kind(a)
    t = _data(a)
    if not t.is_floating_point():
        return _wrap(t, kind)
    if decimals == 0:
        return _wrap(t.round(), kind)
    scale = 10.0 ** _py.abs(decimals)
    t = (t * scale).round() / scale if decimals > 0 \
        else (t / scale).round() * scale
    return _wrap(t, kind)


around = round


def clip(a, a_min=None, a_max=None):
    return _wrap(_data(a).clamp(a_min, a_max), _kind(a))


def where(condition, *values):
    if not values:
        return _np.nonzero(condition)
    x, y, kind = _pair(*(asarray(v) if not isinstance(v, _NUMBERS) else v
                         for v in values)) if not _py.all(
        isinstance(v, _NUMBERS) for v in values) else _pair(
        asarray(values[0]), asarray(values[1]))
    return _wrap(_torch.where(_to(_data(condition), _BOOL), x, y)
                 .to(kind._torch), kind)


# ---- sums and the like ----

def _reduce(a, axis, keepdims, f):
    """f(tensor, dims): a tensor with the axes at the end reduced away."""
    t, axis = _data(a), _axis(axis)
    if axis is None:
        out = f(t.reshape(-1), 0)
        return out.reshape((1,) * t.dim()) if keepdims else out
    if isinstance(axis, tuple):
        dims = [d % t.dim() for d in axis]
        rest = [d for d in range(t.dim()) if d not in dims]
        moved = t.permute(rest + dims).reshape([t.shape[d] for d in rest] + [-1])
        out = f(moved, -1)
        return out.reshape([1 if d in dims else n
                            for d, n in enumerate(t.shape)]) if keepdims else out
    out = f(t, axis)
    return out.unsqueeze(axis) if keepdims else out


def _total_type(kind):
    if kind.kind == "b":
        return _INT
    if kind.kind in "iu" and kind.itemsize < 8:
        return _INT if kind.kind == "i" else _refuse("sums of " + kind.name)
    return kind


def sum(a, axis=None, dtype=None, keepdims=False):
    kind = _dtype(dtype) if dtype is not None else _total_type(_kind(a))
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: _to(t, kind).sum(d)),
                 kind)


def prod(a, axis=None, keepdims=False):
    kind = _total_type(_kind(a))
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: _to(t, kind).prod(d)),
                 kind)


def _mean_type(kind):
    return _FLOAT if kind.kind in "bui" else kind


def mean(a, axis=None, dtype=None, keepdims=False):
    kind = _dtype(dtype) if dtype is not None else _mean_type(_kind(a))
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: _to(t, kind).mean(d)),
                 kind)


def var(a, axis=None, ddof=0, keepdims=False):
    kind = _mean_type(_kind(a))
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: _torch.var(
        _to(t, kind), d, correction=ddof)), kind)


def std(a, axis=None, ddof=0, keepdims=False):
    kind = _mean_type(_kind(a))
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: _torch.std(
        _to(t, kind), d, correction=ddof)), kind)


def min(a, axis=None, keepdims=False):
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: t.amin(d)), _kind(a))


def max(a, axis=None, keepdims=False):
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: t.amax(d)), _kind(a))


amin, amax = min, max


def all(a, axis=None, keepdims=False):
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: t.bool().all(d)), _BOOL)


def any(a, axis=None, keepdims=False):
    return _wrap(_reduce(a, axis, keepdims, lambda t, d: t.bool().any(d)), _BOOL)


def argmin(a, axis=None):
    return _wrap(_reduce(a, axis, False, lambda t, d: t.argmin(d)), _INT)


def argmax(a, axis=None):
    return _wrap(_reduce(a, axis, False, lambda t, d: t.argmax(d)), _INT)


def median(a, axis=None):
    kind = _mean_type(_kind(a))
    return _wrap(_reduce(a, axis, False, lambda t, d: _to(t, kind).quantile(
        0.5, d)), kind)


def percentile(a, q, axis=None):
    return quantile(a, asarray(q) / 100, axis)


def quantile(a, q, axis=None):
    kind = _mean_type(_kind(a))
    q = _to(_data(q), kind)
    return _wrap(_reduce(a, axis, False, lambda t, d: _to(t, kind).quantile(
        q, d)), kind)


def cumsum(a, axis=None):
    kind, t = _total_type(_kind(a)), _data(a)
    t = t.reshape(-1) if axis is None else t
    return _wrap(_to(t, kind).cumsum(0 if axis is None else axis), kind)


def diff(a, n=1, axis=-1):
    return _wrap(_torch.diff(_data(a), n, axis), _kind(a))
