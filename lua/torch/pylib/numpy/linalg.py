# SPDX-License-Identifier: MIT
# numpy/linalg.py: numpy.linalg, on torch.linalg.
import torch as _torch
import numpy as _np
from numpy._array import _wrap
from numpy._math import _pair


def norm(x, ord=None, axis=None, keepdims=False):
    a = _np.asarray(x)
    kind = a.dtype if a.dtype.kind in "fc" else _np.dtype("float64")
    t = a.astype(kind)._t
    if axis is None and ord is None:
        t = t.reshape(-1)
        return _wrap(_torch.linalg.norm(t))
    return _wrap(_torch.linalg.norm(t, ord, axis, keepdims))


def _of_matrix(f):
    def g(a):
        a = _np.asarray(a)
        kind = a.dtype if a.dtype.kind in "fc" else _np.dtype("float64")
        return _wrap(f(a.astype(kind)._t))
    return g


inv, det, pinv = (_of_matrix(f) for f in (
    _torch.linalg.inv, _torch.linalg.det, _torch.linalg.pinv))


def solve(a, b):
    x, y, kind = _pair(_np.asarray(a), _np.asarray(b))
    return _wrap(_torch.linalg.solve(x, y), kind)
