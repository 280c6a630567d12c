# SPDX-License-Identifier: MIT
import itertools
import math
import warnings
import torch
import torch.nn.functional as F
from lib.answers import answer

warnings.simplefilter("ignore")

# Reductions, scans and orders of what is empty, single, tied, infinite or NaN, in
# each dtype and along each dim.
nan, inf = math.nan, math.inf
kinds = ("float64", "float32", "bfloat16", "int64", "uint8", "bool")
numbers = {"plain": [3, 1, 2, 2, 0, 5], "tied": [2, 2, 1, 2, 1, 1]}
odd = {"first nan": [nan, 1, 2, -1, 0, 4], "last nan": [1, 2, -3, 5, 4, nan], "nans": [nan, 1, nan, nan, 2, nan], "inf": [inf, 1, -inf, 2, inf, -0.0]}
whole = ["sum", "mean", "prod", "max", "min", "amax", "amin", "argmax", "argmin", "any", "all", "std", "var", "median", "nanmedian", "mode", "nansum", "nanmean", "count_nonzero", "aminmax", "logsumexp0", "norm"]
picked = """float64 plain, float64 first nan, float64 last nan, float64 nans, float64 inf, float32 nans,
bfloat16 first nan, int64 plain, uint8 plain, bool plain"""
scans = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"]


def call(x, name, **k):
    if name == "logsumexp0":
        return torch.logsumexp(x, k.get("dim", 0), **{n: v for n, v in k.items() if n != "dim"})
    if name == "aminmax":
        return tuple(torch.aminmax(x, **k))
    r = getattr(torch, name)(x, **k)
    return r if isinstance(r, torch.Tensor) else tuple(r)


for kind in kinds:
    t = getattr(torch, kind)
    cases = dict(numbers, **(odd if t.is_floating_point else {}))
    for text, values in cases.items():
        if kind + " " + text not in picked:
            continue
        x = torch.tensor(values).to(t)
        print(kind, text)
        for name in whole:
            print(" ", name, answer(lambda: call(x, name)) if name != "logsumexp0" else "", answer(lambda: call(x.view(2, 3).t(), name, dim=-1, **{"keepdim": True} if name != "count_nonzero" else {})))
        for name in scans:
            print(" ", name, answer(lambda: call(x.view(2, 3), name, dim=0)))
        print("  sort", answer(lambda: tuple(torch.sort(x, stable=True))), answer(lambda: tuple(torch.sort(x.view(2, 3), 0, True, stable=True))), answer(lambda: torch.argsort(x, stable=True)))
        print("  topk", answer(lambda: torch.topk(x, 2)[0]), answer(lambda: torch.topk(x, 6, largest=False)[0]), answer(lambda: torch.topk(x, 0)), answer(lambda: torch.topk(x, 7)) if kind == "int64" else "")
        print("  kth", [answer(lambda: torch.kthvalue(x, k)[0]) for k in ((0, 1, 3, 6, 7) if text == "plain" and kind != "bool" else (1, 6))])
        print("  unique", answer(lambda: torch.unique(x, return_inverse=True, return_counts=True)), answer(lambda: torch.unique_consecutive(x, return_counts=True)))
        print("  others", answer(lambda: torch.diff(x)), kind == "bool" or answer(lambda: torch.isin(x, x[:2])), answer(lambda: torch.isfinite(x)), answer(lambda: torch.nan_to_num(x)), answer(lambda: x.sign()), answer(lambda: torch.softmax(x, 0)), answer(lambda: torch.log_softmax(x.view(2, 3), 1)), answer(lambda: torch.clamp(x, 1, 2)), answer(lambda: torch.maximum(x, x.flip(0))), answer(lambda: torch.fmin(x, x.flip(0))), answer(lambda: torch.nonzero(x)))
        if t.is_floating_point:
            print("  quantile", answer(lambda: torch.quantile(x, torch.tensor([0, 0.3, 1.0], dtype=t))), answer(lambda: torch.nanquantile(x, 0.5)), [answer(lambda: torch.linalg.vector_norm(x, p)) for p in (0, 1, 2, 3, inf, -inf, -1)], [answer(lambda: torch.std(x, correction=c)) for c in (0, 1, 5, 6, 7)], text == "inf" or answer(lambda: tuple(torch.var_mean(x.view(2, 3), 1))))
        elif kind == "int64":
            print("  bincount", answer(lambda: torch.bincount(x)), answer(lambda: torch.bincount(x, minlength=8)), answer(lambda: torch.bincount(x, torch.ones(6))))
for shape, dim in (((0,), 0), ((0, 3), 0), ((0, 3), 1), ((1,), 0), ((), -1), ((2,), 1)):
    x = torch.ones(shape, dtype=torch.float64)
    print(shape, dim, [name + " " + answer(lambda: call(x, name, dim=dim)) + " " + answer(lambda: call(x, name)) for name in whole + ["cumsum", "cummax", "softmax"]])
    print("  more", answer(lambda: tuple(torch.sort(x, dim))), answer(lambda: torch.topk(x, 1, dim)), answer(lambda: torch.unique(x)), answer(lambda: torch.diff(x, dim=dim)), answer(lambda: torch.histc(x, 3)), dim < 0 or 0 in shape or answer(lambda: torch.trapezoid(x, dim=dim)), answer(lambda: torch.linalg.vector_norm(x, 2, dim)), answer(lambda: torch.linalg.vector_norm(x, inf)))
x = torch.arange(24, dtype=torch.float64).view(2, 3, 4)
for dims in ((0,), (0, 1), (0, 2), (-1, 0), (0, 1, 2), (), (1, 1), (3,), (0, -3)):
    print(dims, [answer(lambda: f(x, dims)) for f in (torch.sum, torch.mean, torch.amax, torch.var, torch.logsumexp, torch.count_nonzero, torch.any, torch.all, torch.linalg.vector_norm)][:9])
print([answer(lambda: torch.histc(torch.tensor([1., 2, 3, 3, 5]), b, lo, hi)) for b in (1, 2, 5) for lo, hi in ((0, 0), (1, 5), (2, 3), (3, 3), (5, 1))])
