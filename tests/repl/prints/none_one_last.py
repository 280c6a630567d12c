# SPDX-License-Identifier: MIT
# Operators where one element more or less changes what they do: none, one, the
# last, nan among numbers.
import warnings

import torch
import torch.nn.functional as F
from torch.distributed.fsdp import MixedPrecisionPolicy

warnings.simplefilter("ignore")
nan, inf = float("nan"), float("inf")


def show(what, f):
    try:
        r = f()
    except Exception as e:
        print(what, type(e).__name__, str(e).split("\n")[0])
        return
    r = r if isinstance(r, (tuple, list)) else (r,)
    print(what, *[(x.tolist(), tuple(x.shape), str(x.dtype)[6:]) if isinstance(x, torch.Tensor) else x for x in r])


none, row, one = torch.zeros(0), torch.zeros(3, 0), torch.ones(1)
for name in ("sum", "prod", "mean", "std", "var", "max", "min", "argmax", "argmin", "all", "any", "median", "nanmedian",
             "logsumexp", "cumsum", "softmax", "sort", "unique", "nonzero", "norm", "count_nonzero", "diff", "aminmax",
             "mode", "cummax", "logcumsumexp", "flip", "argsort", "nansum"):
    f = getattr(torch, name)
    for x, label in ((none, "none"), (one, "one")):
        show(f"{name} {label}", lambda: f(x))
        show(f"{name} {label} 0", lambda: f(x, 0) if name != "flip" else f(x, (0,)))
    show(f"{name} rows of none", lambda: f(row, 1) if name != "flip" else f(row, (1,)))
    show(f"{name} no rows", lambda: f(row.t(), 1) if name != "flip" else f(row.t(), (1,)))

v = torch.tensor([3.0, nan, 1.0, inf, -inf, nan, 2.0])
for name in ("max", "min", "argmax", "argmin", "sort", "median", "nanmedian", "aminmax", "cummax", "cummin", "unique",
             "nansum", "isfinite", "sign", "relu", "logsumexp", "nan_to_num", "count_nonzero", "argsort"):
    show(f"nan {name}", lambda: getattr(torch, name)(v))
    show(f"nan {name} int", lambda: getattr(torch, name)(torch.tensor([3, -1, 0, 2])))
for k in (0, 1, 3, 6, 7, 8):
    show(f"topk {k}", lambda: v.topk(k) if k < 8 else v.topk(k))
    show(f"kthvalue {k}", lambda: v.kthvalue(k))
    show(f"narrow {k}", lambda: v.narrow(0, k, 7 - k))
    show(f"split {k}", lambda: torch.arange(7).split(k))
    show(f"chunk {k}", lambda: torch.arange(7).chunk(k))
    show(f"tensor_split {k}", lambda: torch.arange(7).tensor_split(k))
    show(f"roll {k}", lambda: torch.arange(7).roll(k))
    show(f"unfold {k}", lambda: torch.arange(7).unfold(0, k, 2))
    show(f"tril {k}", lambda: torch.ones(2, 3).tril(k - 3))
    show(f"triu {k}", lambda: torch.ones(2, 3).triu(k - 3))
    show(f"diagonal {k}", lambda: torch.arange(6).view(2, 3).diagonal(k - 3))
    show(f"eye {k}", lambda: torch.eye(k, 2))
    show(f"linspace {k}", lambda: torch.linspace(0, 1, k))
    show(f"logspace {k}", lambda: torch.logspace(0, 2, k).round(decimals=3))
    show(f"one_hot {k}", lambda: F.one_hot(torch.tensor([0, 2]), k))
    show(f"repeat_interleave {k}", lambda: torch.arange(2).repeat_interleave(k))
    show(f"max_pool {k}", lambda: F.max_pool1d(torch.arange(7.0).view(1, 1, 7), k))
    show(f"avg_pool {k}", lambda: F.avg_pool1d(torch.arange(7.0).view(1, 1, 7), k, ceil_mode=True))
    show(f"adaptive {k}", lambda: F.adaptive_avg_pool1d(torch.arange(7.0).view(1, 1, 7), k))
    show(f"interpolate {k}", lambda: F.interpolate(torch.arange(3.0).view(1, 1, 3), size=k, mode="linear", align_corners=True))
    show(f"group_norm {k}", lambda: F.group_norm(torch.arange(12.0).view(1, 6, 2), k).round(decimals=3))
    show(f"bincount {k}", lambda: torch.tensor([0, 3]).bincount(minlength=k))
    show(f"select {k}", lambda: torch.arange(7).select(0, k))
    show(f"pad {k}", lambda: F.pad(torch.arange(3.0).view(1, 3), (k - 3, k - 3)))
    show(f"reflect {k}", lambda: F.pad(torch.arange(4.0).view(1, 4), (k, 0), mode="reflect"))
    show(f"circular {k}", lambda: F.pad(torch.arange(4.0).view(1, 4), (k, 0), mode="circular"))
    show(f"histc {k}", lambda: torch.tensor([0.0, 1, 1, 2]).histc(k, 0, 2))
    show(f"combinations {k}", lambda: torch.combinations(torch.arange(3), k))
    show(f"matrix_power {k}", lambda: torch.tensor([[1.0, 1], [0, 1]]).matrix_power(k))
    show(f"vander {k}", lambda: torch.vander(torch.tensor([1.0, 2]), k))
    show(f"renorm {k}", lambda: torch.ones(2, 2).renorm(2, 0, k).round(decimals=3))
    for p in ("laguerre_polynomial_l", "legendre_polynomial_p", "hermite_polynomial_h", "hermite_polynomial_he",
              "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w"):
        show(f"{p} {k}", lambda: getattr(torch.special, p)(torch.tensor([-1.0, 0, 0.5, 1, 1.5]), k).round(decimals=3) + 0.0)
for q in (0.0, 0.5, 1.0, 1.5):
    show(f"quantile {q}", lambda: torch.tensor([3.0, 1, 2, 4]).quantile(q))
    show(f"quantile one {q}", lambda: one.quantile(q))
s = torch.tensor([1, 3, 3, 5])
for right in (False, True):
    show(f"searchsorted {right}", lambda: torch.searchsorted(s, torch.tensor([0, 1, 3, 5, 6]), right=right))
    show(f"bucketize {right}", lambda: torch.bucketize(torch.tensor([0, 1, 3, 5, 6]), s, right=right))
for c in (0, 1, 2, 3):
    show(f"var {c}", lambda: torch.tensor([1.0, 2]).var(0, correction=c))
for lo, hi in ((1, 0), (None, 1), (1, None), (nan, 1.0), (2, 2)):
    show(f"clamp {lo} {hi}", lambda: v.clamp(lo, hi))
show("cat", lambda: torch.cat([none, torch.ones(2)]))
show("cat rows", lambda: torch.cat([none, torch.ones(2, 1)]))
show("stack", lambda: torch.stack([none, none]))
show("index none", lambda: torch.arange(3)[torch.tensor([], dtype=torch.long)])
show("masked none", lambda: torch.arange(3)[torch.zeros(3, dtype=torch.bool)])
show("mm none", lambda: torch.zeros(2, 0) @ torch.zeros(0, 3))
show("mse none", lambda: F.mse_loss(none, none))
show("cross entropy ignored", lambda: F.cross_entropy(torch.zeros(2, 3), torch.tensor([-100, -100])))
show("cross entropy one", lambda: F.cross_entropy(torch.zeros(1, 1), torch.tensor([0])))
show("cross entropy none", lambda: F.cross_entropy(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long)))
show("layer norm one", lambda: F.layer_norm(torch.ones(2, 1), (1,)))
show("embedding", lambda: F.embedding(torch.tensor([3]), torch.ones(3, 2)))
show("batch norm one", lambda: F.batch_norm(torch.ones(1, 2), torch.zeros(2), torch.ones(2), training=True))
for t in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
    for u in (t, torch.float32):
        for m in (0.0, 0.3, 1.0):
            x = torch.tensor([[[0.1, 0.7], [3.3, 1.7]], [[0.9, -1.1], [2.3, 0.3]]], dtype=t)
            mean, var = torch.tensor([0.37, 0.11], dtype=u), torch.tensor([1.3, 0.7], dtype=u)
            exact = t == u and t in (torch.bfloat16, torch.float16)
            show(f"batch norm {t} {u} {m}", lambda: [x if exact else x.round(decimals=3) for x in (
                F.batch_norm(x, mean, var, training=True, momentum=m), mean, var)])
            show(f"batch norm eval {t} {u}", lambda: F.batch_norm(x, mean, var).float().round(decimals=3))
print(MixedPrecisionPolicy(), MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32, cast_forward_inputs=False))
