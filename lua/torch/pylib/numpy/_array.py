# SPDX-License-Identifier: MIT
# numpy/_array.py: the array: a plain tensor (of which torch.from_numpy and
# tensor.numpy() are views) with NumPy's type, and how arrays are made.
import _absent
import builtins as _py
import math as _math
import torch as _torch

import numpy as _np                 # whose functions its methods are
from numpy._types import (
    dtype, generic, TYPES as _TYPES, DEFAULTS as _DEFAULTS,
    join_types as _join_types)
from numpy._format import array_text as _array_text

_FLOAT, _INT, _BOOL = dtype("float64"), dtype("int64"), dtype("bool")
_NUMBERS = (_py.bool, int, float, complex)


# What is kept in a wider type here, by the one of as many bytes.
_NARROW = {"uint16": _torch.int16, "uint32": _torch.int32}


def _refuse(what):
    raise _absent.error("numpy: %s is not part of dtrepl" % what)


def _wrap(t, kind=None):
    """The array of a tensor, or its number where it has no dimension."""
    kind = kind or dtype(t.dtype)
    if t.dim() == 0:
        return kind.type(t.item())
    return ndarray._of(t, kind)


def _data(x):
    """The tensor of what stands for an array."""
    return x._t if isinstance(x, ndarray) else asarray(x)._t


def _kind(x):
    return x.dtype if isinstance(x, (ndarray, generic)) else asarray(x).dtype


def _to(t, kind):
    return t if t.dtype == kind._torch else t.to(kind._torch)


def _axis(axis):
    return tuple(axis) if isinstance(axis, (list, tuple)) else axis


class ndarray:
    __module__ = "numpy"
    _is_array = True                    # torch/arrays.lua knows it by this

    def __new__(cls, shape, dtype=float):
        return empty(shape, dtype)

    @classmethod
    def _of(cls, t, kind):
        self = object.__new__(cls)
        self._t, self.dtype = t.detach(), kind
        # What torch sees: nothing of a type that it has not.
        self._shared = self._t if kind._torch.itemsize == kind.itemsize else None
        return self

    # ---- what it is ----

    shape = property(lambda self: tuple(self._t.shape))
    ndim = property(lambda self: self._t.dim())
    size = property(lambda self: self._t.numel())
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self._t.numel() * self.dtype.itemsize)
    T = property(lambda self: self.transpose())
    real = property(lambda self: _wrap(self._t.real, None))
    imag = property(lambda self: _wrap(self._t.imag, None))
    flat = property(lambda self: iter(self.ravel()))
    strides = property(lambda self: tuple(n * self.dtype.itemsize
                                          for n in self._t.stride()))

    def __len__(self):
        if not self._t.dim():
            raise TypeError("len() of unsized object")
        return self._t.shape[0]

    def __iter__(self):
        if not self._t.dim():
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self._t.shape[0]))

    def __bool__(self):
        if self._t.numel() != 1:
            raise ValueError("The truth value of an array with more than one "
                             "element is ambiguous. Use a.any() or a.all()")
        return _py.bool(self._t.item())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __index__(self):
        if self.dtype.kind not in "iu" or self._t.numel() != 1:
            raise TypeError("only integer scalar arrays can be converted to a "
                            "scalar index")
        return self._t.item()

    def __contains__(self, x):
        return _py.bool((self == x).any())

    def __str__(self):
        return _array_text(self.tolist(), self.shape, self.dtype.kind,
                           self.dtype.itemsize)

    def __repr__(self):
        text = "array(" + _array_text(self.tolist(), self.shape,
                                      self.dtype.kind, self.dtype.itemsize,
                                      ", ", "array(")
        tail = []
        if not self._t.numel() and self.shape != (0,):
            tail.append("shape=" + str(self.shape))
        if self.dtype.name not in _DEFAULTS or not self._t.numel():
            tail.append("dtype=" + self.dtype.name)
        tail = ", ".join(tail)
        if not tail:
            return text + ")"
        last = len(text.rsplit("\n", 1)[-1])
        joint = ", " if last + len(tail) + 3 <= 75 else ",\n      "
        return text + joint + tail + ")"

    # ---- elements ----

    def __getitem__(self, key):
        t, rest = _take_back(self._t, key)
        return _wrap(t[rest], self.dtype)

    def __setitem__(self, key, value):
        if isinstance(value, (ndarray, list, tuple)):
            value = _to(_data(value), self.dtype)
        t, rest = _take_back(self._t, key, writes=True)
        t[rest] = value

    def item(self, *at):
        t = self._t
        if at:
            t = t.reshape(-1)[at[0]] if len(at) == 1 else t[at]
        if t.numel() != 1:
            raise ValueError("can only convert an array of size 1 to a Python "
                             "scalar")
        return t.item()

    def tolist(self):
        return self._t.tolist() if self._t.dim() else self._t.item()

    def fill(self, value):
        self._t.fill_(value)

    def tobytes(self):
        narrow = _NARROW.get(self.dtype.name)
        return (self._t.to(narrow) if narrow else self._t).tobytes()

    def tofile(self, fid, sep="", format="%s"):
        if sep:
            _refuse("tofile(sep=)")
        if hasattr(fid, "write"):
            fid.write(self.tobytes())
        else:
            with open(fid, "wb") as f:
                f.write(self.tobytes())

    def copy(self, order="C"):
        return ndarray._of(self._t.clone().contiguous(), self.dtype)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __tensor__(self):
        """What it is as an index of a tensor."""
        return self._t

    def __array__(self, dtype=None, copy=None):
        return self if dtype is None else self.astype(dtype)

    def astype(self, kind, copy=True):
        kind = dtype(kind)
        if kind.name == self.dtype.name and not copy:
            return self
        t = self._t
        if kind.kind in "iu" and kind._torch.itemsize != kind.itemsize:
            t = t.to(kind._torch) & ((1 << 8 * kind.itemsize) - 1)
        elif t.dtype == kind._torch:
            t = t.clone()
        return ndarray._of(t.to(kind._torch), kind)

    # ---- shapes ----

    def reshape(self, *shape, order="C"):
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        try:
            return ndarray._of(self._t.reshape(shape), self.dtype)
        except RuntimeError:
            raise ValueError("cannot reshape array of size %d into shape %s"
                             % (self.size, _shape_text(shape))) from None

    def ravel(self, order="C"):
        return self.reshape(-1)

    def flatten(self, order="C"):
        return self.copy().reshape(-1)

    def transpose(self, *axes):
        if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
            axes = tuple(axes[0])
        if not axes or axes == (None,):
            axes = tuple(range(self.ndim - 1, -1, -1))
        return ndarray._of(self._t.permute(axes), self.dtype)

    def swapaxes(self, a, b):
        return ndarray._of(self._t.transpose(a, b), self.dtype)

    def squeeze(self, axis=None):
        t = self._t.squeeze() if axis is None else self._t.squeeze(axis)
        return ndarray._of(t, self.dtype)

    # ---- of all, or along an axis ----

    def sum(self, axis=None, dtype=None, keepdims=False):
        return _np.sum(self, axis, dtype, keepdims=keepdims)

    def mean(self, axis=None, dtype=None, keepdims=False):
        return _np.mean(self, axis, dtype, keepdims=keepdims)

    def prod(self, axis=None):
        return _np.prod(self, axis)

    def std(self, axis=None, ddof=0, keepdims=False):
        return _np.std(self, axis, ddof=ddof, keepdims=keepdims)

    def var(self, axis=None, ddof=0, keepdims=False):
        return _np.var(self, axis, ddof=ddof, keepdims=keepdims)

    def min(self, axis=None, keepdims=False):
        return _np.min(self, axis, keepdims=keepdims)

    def max(self, axis=None, keepdims=False):
        return _np.max(self, axis, keepdims=keepdims)

    def all(self, axis=None, keepdims=False):
        return _np.all(self, axis, keepdims=keepdims)

    def any(self, axis=None, keepdims=False):
        return _np.any(self, axis, keepdims=keepdims)

    def argmin(self, axis=None):
        return _np.argmin(self, axis)

    def argmax(self, axis=None):
        return _np.argmax(self, axis)

    def cumsum(self, axis=None):
        return _np.cumsum(self, axis)

    def argsort(self, axis=-1):
        return _np.argsort(self, axis)

    def sort(self, axis=-1):
        self._t.copy_(self._t.sort(axis)[0])

    def clip(self, low=None, high=None):
        return _np.clip(self, low, high)

    def round(self, decimals=0):
        return _np.round(self, decimals)

    def dot(self, other):
        return _np.dot(self, other)

    def nonzero(self):
        return _np.nonzero(self)

    def repeat(self, n, axis=None):
        return _np.repeat(self, n, axis)

    # ---- operators ----

    def __neg__(self):
        return _wrap(-self._t, self.dtype)

    def __pos__(self):
        return self.copy()

    def __abs__(self):
        return _np.abs(self)

    def __invert__(self):
        return _wrap(~self._t, self.dtype)

    def __matmul__(self, other):
        return _np.matmul(self, other)

    def __rmatmul__(self, other):
        return _np.matmul(other, self)

    __hash__ = None


def _shape_text(shape):
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") \
        + ")"


def _take_back(t, key, writes=False):
    """A key of torch's: x[::-1] becomes the tensor turned round (a copy)."""
    keys = key if isinstance(key, tuple) else (key,)
    out, turned, at = [], [], 0
    dims = _py.sum(1 for k in keys if k is not None and k is not Ellipsis)
    for k in keys:
        if isinstance(k, ndarray):
            k = k._t
            at += k.dim() - 1 if k.dtype == _torch.bool else 0
        elif isinstance(k, list):
            k = _data(k)
        elif isinstance(k, generic):
            k = k.item()
        elif k is Ellipsis:
            at += t.dim() - dims - 1
        elif isinstance(k, slice) and k.step is not None and k.step < 0:
            if writes:
                _refuse("writing through a slice with a negative step")
            n = t.shape[at]
            start, stop, step = k.indices(n)
            t, turned = t.flip(at), turned + [at]
            k = slice(n - 1 - start, n - 1 - stop, -step)
        out.append(k)
        at += k is not None
    return t, tuple(out) if isinstance(key, tuple) else out[0]


# ---- making them ----

def _held(x):
    """A nested list with numbers of Python's, and the types met in it."""
    if isinstance(x, (list, tuple, range)):
        parts = [_held(v) for v in x]
        kinds = [k for _, ks in parts for k in ks]
        return [v for v, _ in parts], kinds
    if isinstance(x, ndarray):
        return x.tolist(), [x.dtype]
    if isinstance(x, generic):
        return x.item(), [x.dtype]
    if isinstance(x, _torch.Tensor):
        return x.tolist(), [dtype(x.dtype)]
    if not isinstance(x, _NUMBERS):
        _refuse("an array of %s" % type(x).__name__)
    return x, [dtype(type(x))]


def array(obj, dtype=None, copy=True, ndmin=0):
    kind = None if dtype is None else _dtype(dtype)
    if isinstance(obj, _torch.Tensor):
        obj = obj.numpy()
    if isinstance(obj, ndarray):
        out = obj if kind is None else obj.astype(kind, copy=False)
        out = out.copy() if copy else out
    else:
        nested, kinds = _held(obj)
        if kind is None:
            kind = kinds[0] if kinds else _FLOAT
            for k in kinds[1:]:
                kind = _join_types(kind, k)
        try:
            t = _torch.tensor(nested, dtype=kind._torch)
        except ValueError:
            raise ValueError("setting an array element with a sequence. The "
                             "requested array has an inhomogeneous shape") \
                from None
        out = ndarray._of(t, kind)
    while out.ndim < ndmin:
        out = out.reshape((1,) + out.shape)
    return out


_dtype = dtype


def asarray(obj, dtype=None):
    return array(obj, dtype, copy=False)


ascontiguousarray = asanyarray = asarray


def _filled(make):
    def f(shape, dtype=float, order="C"):
        kind = _dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return ndarray._of(make(shape, dtype=kind._torch), kind)
    return f


zeros, ones = _filled(_torch.zeros), _filled(_torch.ones)
empty = zeros


def full(shape, fill_value, dtype=None):
    kind = _dtype(dtype) if dtype is not None else _kind(fill_value)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return ndarray._of(_torch.full(shape, fill_value, dtype=kind._torch), kind)


def _like(make):
    def f(a, dtype=None):
        a = asarray(a)
        return make(a.shape, dtype or a.dtype)
    return f


zeros_like, ones_like, empty_like = _like(zeros), _like(ones), _like(empty)


def full_like(a, fill_value, dtype=None):
    a = asarray(a)
    return full(a.shape, fill_value, dtype or a.dtype)


def arange(start, stop=None, step=1, dtype=None):
    if stop is None:
        start, stop = 0, start
    kind = _dtype(dtype) if dtype is not None else \
        _INT if _py.all(isinstance(v, int) for v in (start, stop, step)) \
        else _FLOAT
    if _py.all(isinstance(v, int) for v in (start, stop, step)):
        t = _torch.arange(start, _py.max(start, stop) if step > 0
                          else _py.min(start, stop), step)
    else:                           # torch rounds otherwise
        n = _py.max(0, _math.ceil((stop - start) / step))
        t = _torch.arange(n, dtype=_torch.float64) * step + start
    return ndarray._of(_to(t, kind), kind)


def linspace(start, stop, num=50, endpoint=True, dtype=None):
    step = (stop - start) / (num - 1 if endpoint else num) if num > 1 else 0.0
    t = _torch.arange(num, dtype=_torch.float64) * step + start
    if endpoint and num > 1:
        t[-1] = stop
    kind = _dtype(dtype) if dtype is not None else _FLOAT
    return ndarray._of(_to(t, kind), kind)


def eye(n, m=None, dtype=float):
    kind = _dtype(dtype)
    return ndarray._of(_torch.eye(n, n if m is None else m, dtype=kind._torch),
                       kind)


identity = eye


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    kind = _dtype(dtype)
    if kind.itemsize != kind._torch.itemsize:
        raw = frombuffer(buffer, "uint8", -1, offset)._t.to(_torch.int64)
        parts = raw.reshape(-1, kind.itemsize)
        t = _py.sum(parts[:, i] << 8 * i for i in range(kind.itemsize))
        t = t[:count] if count >= 0 else t
        return ndarray._of(t.to(kind._torch), kind)
    return ndarray._of(_torch.frombuffer(buffer, dtype=kind._torch, count=count,
                                         offset=offset), kind)
