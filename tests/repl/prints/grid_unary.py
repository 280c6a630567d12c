# SPDX-License-Identifier: MIT
import itertools
import math
import warnings
import torch
import torch.nn.functional as F
from lib.answers import answer

warnings.simplefilter("ignore")

# Functions of one number on both sides of each bound of their formulas.
inf, nan = math.inf, math.nan
points = [0.0, -0.0, 1e-30, 1e-4, 0.3, 0.5, 0.75, 0.99, 1.0, 1.5, 2.0, 2.5, 3.75, 4.0, 5.0, 7.9, 8.0, 8.1, 10.0, 12.5, 19.9, 25.0, 40.0, 88.0, 90.0, 171.0, 1e4, inf, nan]
points += [-v for v in points[2:-1]]
x = torch.tensor(points, dtype=torch.float64)
names = """abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac
lgamma log log10 log1p log2 logit neg positive rad2deg reciprocal relu round rsqrt sigmoid sign sgn signbit sin sinc sinh
sqrt square tan tanh trunc i0 isfinite isinf isnan isneginf isposinf isreal nan_to_num""".split()
special = """bessel_j0 bessel_j1 bessel_y0 bessel_y1 entr erfcx i0e i1 i1e log_ndtr modified_bessel_i0 modified_bessel_i1
modified_bessel_k0 modified_bessel_k1 ndtr ndtri scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0""".split()
ours = "celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 selu silu softplus softshrink softsign tanhshrink".split()


def near(t):
    return [("nan" if v != v else "0" if abs(v) < 1e-250 else "big" if abs(v) > 1e15 else f"{v:.5g}") if isinstance(v, float) else v for v in t.tolist()]


def told(f):
    try:
        return " ".join(str(v) for v in near(f()))
    except Exception as e:
        return type(e).__name__ + " " + str(e)[:70]


for where, list_ in ((torch, names), (torch.special, special), (F, ours)):
    for name in list_:
        f = getattr(where, name)
        print(name, told(lambda: f(x)))
        if name.startswith(("is", "sgn", "sign", "nan_", "modified", "bessel")):
            continue            # nothing to derive, or (Bessel) not derived here
        bounded = where is F or name in ("i1", "i1e")      # beyond: as vectors or one by one
        y = (x[x.isfinite()] if bounded else x).clone().requires_grad_()
        print("  gradient", told(lambda: torch.autograd.grad(f(y).sum(), y)[0]))
        for kind in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
            few = torch.tensor([0.0, 1.0, -1.0, 3.0, -2.5, 0.25, inf, nan][:8 if kind.is_floating_point else 5]).to(kind)
            if kind == torch.bfloat16 and name in ("i0e", "entr"):
                continue        # PyTorch rounds each of its steps to bfloat16
            if kind == torch.bfloat16 and name == "signbit":
                few = few[:-1]  # a NaN's sign is the machine's conversion's
            print(" ", str(kind)[6:], answer(lambda: f(few)))
for n in (0, 1, 2, 3):
    print("polygamma", n, told(lambda: torch.polygamma(n, x[8:24])))
    print("multigammaln", n, told(lambda: torch.mvlgamma(x[12:24], n)))
for a in (0.5, 1.0, 2.0, 5.0, 20.0, 30.0):
    for name in ("gammainc", "gammaincc", "zeta", "xlog1py", "xlogy"):
        f = getattr(torch.special, name)
        print(name, a, told(lambda: f(torch.tensor(a, dtype=torch.float64), x[3:29])), "|", told(lambda: f(x[3:20], torch.tensor(a, dtype=torch.float64))))
for name in ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"):
    for n in (-1, 0, 1, 2, 3, 5, 8):
        print(name, n, told(lambda: getattr(torch.special, name)(torch.tensor([-1.0, -0.4, 0.0, 0.3, 1.0, 1.5], dtype=torch.float64), n)))
for d in (-3, 0, 1, 2):
    print("round", d, told(lambda: torch.round(x[:12] * 123.456, decimals=d)))
