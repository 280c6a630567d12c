# SPDX-License-Identifier: MIT
# numpy/_shape.py: shapes, order, products and comparisons of arrays.
import builtins as _py
import torch as _torch

from numpy._types import dtype as _dtype, generic, join_types as _join_types
from numpy._array import (
    ndarray, asarray, _BOOL, _FLOAT, _INT, _NUMBERS, _data, _kind, _refuse, _to,
    _wrap)
from numpy._math import _pair, all, multiply, sum


# ---- shapes ----

def _joined(arrays):
    arrays = [asarray(a) for a in arrays]
    kind = arrays[0].dtype
    for a in arrays[1:]:
        kind = _join_types(kind, a.dtype)
    return [_to(a._t, kind) for a in arrays], kind


def concatenate(arrays, axis=0):
    tensors, kind = _joined(arrays)
    if axis is None:
        tensors, axis = [t.reshape(-1) for t in tensors], 0
    return _wrap(_torch.cat(tensors, axis), kind)


def stack(arrays, axis=0):
    tensors, kind = _joined(arrays)
    return _wrap(_torch.stack(tensors, axis), kind)


def vstack(arrays):
    tensors, kind = _joined(arrays)
    return _wrap(_torch.vstack(tensors), kind)


def hstack(arrays):
    tensors, kind = _joined(arrays)
    return _wrap(_torch.hstack(tensors), kind)


def split(a, parts, axis=0):
    a = asarray(a)
    if isinstance(parts, int) and a.shape[axis] % parts:
        raise ValueError("array split does not result in an equal division")
    return array_split(a, parts, axis)


def array_split(a, parts, axis=0):
    a = asarray(a)
    at = [] if isinstance(parts, int) else list(parts)
    pieces = _torch.tensor_split(a._t, parts if isinstance(parts, int) else at,
                                 axis)
    return [ndarray._of(t, a.dtype) for t in pieces]


def delete(a, obj, axis=None):
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), 0
    n = a.shape[axis]
    if isinstance(obj, slice):
        gone = list(range(*obj.indices(n)))
    elif not isinstance(obj, (list, tuple, ndarray)):
        gone = [obj.__index__()]
    else:
        gone = [int(i) for i in obj]
    for i in gone:
        if not -n <= i < n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with "
                             f"size {n}")
    gone = {i % n for i in gone}
    kept = _torch.tensor([i for i in range(n) if i not in gone], dtype=_torch.int64)
    return ndarray._of(_torch.index_select(a._t, axis, kept), a.dtype)


def reshape(a, shape):
    return asarray(a).reshape(shape)


def ravel(a):
    return asarray(a).ravel()


def transpose(a, axes=None):
    return asarray(a).transpose(axes)


def swapaxes(a, b, c):
    return asarray(a).swapaxes(b, c)


def moveaxis(a, source, destination):
    return _wrap(_torch.movedim(_data(a), source, destination), _kind(a))


def squeeze(a, axis=None):
    return asarray(a).squeeze(axis)


def expand_dims(a, axis):
    return _wrap(_data(a).unsqueeze(axis), _kind(a))


def broadcast_to(a, shape):
    return _wrap(_data(a).expand(shape), _kind(a))


def tile(a, reps):
    return _wrap(_torch.tile(_data(a), (reps,) if isinstance(reps, int)
                             else tuple(reps)), _kind(a))


def repeat(a, n, axis=None):
    t = _data(a).reshape(-1) if axis is None else _data(a)
    return _wrap(_torch.repeat_interleave(
        t, n if isinstance(n, int) else _data(n), 0 if axis is None else axis),
        _kind(a))


def flip(a, axis=None):
    t = _data(a)
    return _wrap(t.flip(tuple(range(t.dim())) if axis is None else axis),
                 _kind(a))


def roll(a, shift, axis=None):
    return _wrap(_torch.roll(_data(a), shift, axis), _kind(a))


def copy(a):
    return asarray(a).copy()


def tril(a, k=0):
    return _wrap(_torch.tril(_data(a), k), _kind(a))


def triu(a, k=0):
    return _wrap(_torch.triu(_data(a), k), _kind(a))


def diag(a, k=0):
    return _wrap(_torch.diag(_data(a), k), _kind(a))


def meshgrid(*arrays, indexing="xy"):
    return tuple(_wrap(t) for t in _torch.meshgrid(
        *[_data(a) for a in arrays], indexing=indexing))


def nonzero(a):
    return tuple(_wrap(t, _INT) for t in _torch.nonzero(_data(a), as_tuple=True))


def argwhere(a):
    return _wrap(_torch.nonzero(_data(a)), _INT)


def count_nonzero(a, axis=None):
    return sum(asarray(a) != 0, axis)


# ---- order ----

def sort(a, axis=-1):
    return _wrap(_data(a).sort(axis)[0], _kind(a))


def argsort(a, axis=-1, kind=None):
    return _wrap(_data(a).argsort(dim=axis, stable=True), _INT)


def unique(a, return_index=False, return_inverse=False, return_counts=False):
    if return_index:
        _refuse("unique(return_index=True)")
    out = _torch.unique(_data(a).reshape(-1), True, return_inverse,
                        return_counts)
    if not isinstance(out, tuple):
        return _wrap(out, _kind(a))
    return tuple(_wrap(t, _kind(a) if i == 0 else _INT)
                 for i, t in enumerate(out))


def searchsorted(a, v, side="left"):
    x, y, _ = _pair(asarray(a), v)
    return _wrap(_torch.searchsorted(x, y, right=side == "right"), _INT)


def isin(a, values):
    return _wrap(_torch.isin(_data(a), _data(values)), _BOOL)


def bincount(a, minlength=0):
    return _wrap(_torch.bincount(_data(a), minlength=minlength), _INT)


# ---- products ----

def matmul(a, b):
    x, y, kind = _pair(asarray(a), asarray(b))
    try:
        return _wrap(_torch.matmul(x, y), kind)
    except RuntimeError:
        raise ValueError("matmul: Input operand 1 has a mismatch in its core "
                         "dimension") from None


def dot(a, b):
    if asarray(a).ndim > 2 or asarray(b).ndim > 2:
        _refuse("dot() of arrays with more than two dimensions")
    if asarray(a).ndim == 0 or asarray(b).ndim == 0:
        return multiply(asarray(a), asarray(b))
    return matmul(a, b)


def outer(a, b):
    x, y, kind = _pair(asarray(a).ravel(), asarray(b).ravel())
    return _wrap(_torch.outer(x, y), kind)


def einsum(text, *arrays):
    tensors, kind = _joined(arrays)
    return _wrap(_torch.einsum(text, *tensors), kind)


# ---- comparing ----

def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y, kind = _pair(asarray(a), asarray(b))
    whole = kind.kind in "bui"
    x, y = (_to(x, _FLOAT), _to(y, _FLOAT)) if whole else (x, y)
    x, y = _torch.broadcast_tensors(x, y)
    return _wrap(_torch.isclose(x, y, rtol, atol, equal_nan), _BOOL)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return _py.bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a, b):
    a, b = asarray(a), asarray(b)
    return a.shape == b.shape and _py.bool(all(a == b))


def isscalar(x):
    return isinstance(x, _NUMBERS + (str, bytes))


def result_type(*kinds):
    out = None
    for k in kinds:
        k = _dtype(k) if not isinstance(k, (ndarray, generic)) else k.dtype
        out = k if out is None else _join_types(out, k)
    return out


promote_types = result_type


def issubdtype(a, b):
    cls = _dtype(a).type
    if isinstance(b, type) and issubclass(b, generic):
        return issubclass(cls, b)
    return issubclass(cls, _dtype(b).type)


class finfo:
    def __init__(self, kind):
        kind = _dtype(kind)
        if kind.kind != "f":
            raise ValueError("data type %r not inexact" % (kind.type,))
        of = _torch.finfo(kind._torch)
        self.dtype, self.bits = kind, of.bits
        self.eps, self.max, self.min, self.tiny = (
            kind.type(x) for x in (of.eps, of.max, of.min, of.tiny))


class iinfo:
    def __init__(self, kind):
        kind = _dtype(kind)
        self.dtype, self.bits = kind, 8 * kind.itemsize
        signed = kind.kind == "i"
        self.min = -(1 << (self.bits - 1)) if signed else 0
        self.max = (1 << (self.bits - int(signed))) - 1
