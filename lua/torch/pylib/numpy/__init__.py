# SPDX-License-Identifier: MIT
# numpy/__init__.py: the part of NumPy 2 that programs over torch use, on the
# engine's own tensors: an array is a plain tensor (of which torch.from_numpy and
# tensor.numpy() are views) with NumPy's types, results and texts.  What is not
# here is refused by name.
from math import pi, e, inf, nan

from numpy._types import (
    dtype, generic, number, integer, signedinteger, unsignedinteger, floating,
    complexfloating, bool_, TYPES as _TYPES)
from numpy._array import *
from numpy._math import *
from numpy._shape import *
from numpy._array import _refuse

__version__ = "2.4.6"
newaxis = None
int8, int16, int32, int64 = (_TYPES["int%d" % n] for n in (8, 16, 32, 64))
uint8, uint16, uint32 = (_TYPES["uint%d" % n] for n in (8, 16, 32))
float16, float32, float64 = (_TYPES["float%d" % n] for n in (16, 32, 64))
complex64, complex128 = _TYPES["complex64"], _TYPES["complex128"]
half, single, double, intp, longlong = float16, float32, float64, int64, int64


# ---- files ----

class memmap(ndarray):
    """A file's elements; a copy, which is not written back."""

    def __new__(cls, filename, dtype=uint8, mode="r+", offset=0, shape=None):
        if mode not in ("r", "c"):
            _refuse("a memmap with mode '%s'" % mode)
        with open(filename, "rb") as f:
            out = frombuffer(f.read()[offset:], dtype)
        return out if shape is None else out.reshape(shape)


def fromfile(file, dtype=float, count=-1, offset=0):
    with open(file, "rb") as f:
        return frombuffer(f.read()[offset:], dtype, count)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError("module 'numpy' has no attribute '%s'" % name)
    raise AttributeError("module 'numpy' has no attribute '%s', or it is not "
                         "part of dtrepl" % name)


from numpy import random, linalg, testing   # noqa: E402
