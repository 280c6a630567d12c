# SPDX-License-Identifier: MIT
"""cmath: functions of complex numbers."""
import math
from math import e, inf, nan, pi, tau

infj, nanj = complex(0.0, inf), complex(0.0, nan)


def phase(z, /):
    z = complex(z)
    return math.atan2(z.imag, z.real)


def polar(z, /):
    return abs(complex(z)), phase(z)


def rect(r, phi, /):
    return complex(r * math.cos(phi), r * math.sin(phi))


def isfinite(z, /):
    z = complex(z)
    return math.isfinite(z.real) and math.isfinite(z.imag)


def isnan(z, /):
    z = complex(z)
    return math.isnan(z.real) or math.isnan(z.imag)


def isinf(z, /):
    z = complex(z)
    return math.isinf(z.real) or math.isinf(z.imag)


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if isinf(a) or isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


def _finite(z, name):
    z = complex(z)
    if not isfinite(z):
        import _absent
        raise _absent.error(f"cmath.{name} of what is not finite is not part "
                            "of dtrepl")
    return z


def exp(z, /):
    z = _finite(z, "exp")
    length = math.exp(z.real)
    return complex(length * math.cos(z.imag), length * math.sin(z.imag))


def sqrt(z, /):
    z = _finite(z, "sqrt")
    if z.real == 0.0 and z.imag == 0.0:
        return complex(0.0, z.imag)
    ax, ay = abs(z.real) / 8.0, abs(z.imag)
    s = 2.0 * math.sqrt(ax + math.hypot(ax, ay / 8.0))
    d = ay / (2.0 * s)
    if z.real >= 0.0:
        return complex(s, math.copysign(d, z.imag))
    return complex(d, math.copysign(s, z.imag))


def log(z, base=None, /):
    z = _finite(z, "log")
    if z == 0:
        raise ValueError("math domain error")
    h = math.hypot(z.real, z.imag)
    if 0.71 <= h <= 1.73:
        big, small = sorted((abs(z.real), abs(z.imag)), reverse=True)
        real = math.log1p((big - 1) * (big + 1) + small * small) / 2.0
    else:
        real = math.log(h)
    out = complex(real, math.atan2(z.imag, z.real))
    return out if base is None else out / log(base)


def log10(z, /):
    z = log(z)
    return complex(z.real / math.log(10), z.imag / math.log(10))


def cosh(z, /):
    z = _finite(z, "cosh")
    return complex(math.cos(z.imag) * math.cosh(z.real),
                   math.sin(z.imag) * math.sinh(z.real))


def sinh(z, /):
    z = _finite(z, "sinh")
    return complex(math.cos(z.imag) * math.sinh(z.real),
                   math.sin(z.imag) * math.cosh(z.real))


def cos(z, /):
    z = complex(z)
    return cosh(complex(-z.imag, z.real))


def sin(z, /):
    z = complex(z)
    out = sinh(complex(-z.imag, z.real))
    return complex(out.imag, -out.real)


def __getattr__(name):
    if name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "tan",
                "tanh"):
        import _absent
        raise _absent.error(f"cmath.{name} is not part of dtrepl")
    raise AttributeError(f"module 'cmath' has no attribute {name!r}")
