#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fits the pieces of src/kernel/pw_pieces.def (see pw_pieces_int.h): prints the file.

A function of a bf16 has so few arguments that a piece needs to be right for
some dozens of them only.  Each argument asks that A + B p(a) lie where it is
rounded to the right bf16; a linear program finds the parabola p farthest from
all these bounds, counted in roundings of single precision.  tests/unit/test_loops.c
compares every argument with the accurate function.

Needs numpy and scipy.
"""
import math

import numpy as np
from scipy.optimize import linprog

PIECES = 32
f32 = np.float32


def wide(h):
    """Bits of bf16 as doubles."""
    return (np.asarray(h, np.uint32) << 16).view(f32).astype(np.float64)


def bits(x):
    return int(f32(x).view(np.uint32) >> 16)


def rounded(d):
    """Doubles to the nearest bf16, as bits (through float32: no argument here comes near a double rounding)."""
    u = d.astype(f32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.int64)


def bounds(o):
    """The floats that adding 0x8000 and cutting turns into bf16 `o`."""
    mag, neg = o & 0x7FFF, o >> 15
    lo = np.where(mag == 0, 0, (mag << 16) - 0x8000).astype(np.uint32).view(f32).astype(np.float64)
    hi = ((mag << 16) + 0x7FFF).astype(np.uint32).view(f32).astype(np.float64)
    lo = np.where(mag == 0, -hi, lo)
    return np.where(neg == 1, -hi, lo), np.where(neg == 1, -lo, hi)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return np.array([v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x])


def gelu_tanh(x):
    """Single precision after the tanh, whose rounding shows from -3 on."""
    t = np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)).astype(f32)
    return (f32(0.5) * x.astype(f32) * (f32(1) + t)).astype(np.float64)


# name: function, largest |x|, form: odd a p(a); ramp max(x, 0) + a p(a); step 1/2 +- p(a)
FUNCTIONS = {
    "tanh": (np.tanh, 3.75, "odd"),
    "erf": (lambda x: np.array([math.erf(v) for v in x]), 2.5, "odd"),
    "gelu": (gelu, 4.375, "ramp"),
    "gelu_tanh": (gelu_tanh, 4.0, "ramp"),
    "silu": (lambda x: x * sigmoid(x), 10.0, "ramp"),
    "sigmoid": (sigmoid, 8.0, "step"),
}


def solve(x, lo, hi, unit, c, w):
    """The parabola (in powers of x) within lo..hi at all x; its margin in `unit`."""
    t = (x - c) / w
    v = np.vander(t, 3, increasing=True)
    s = 1 / np.maximum(np.maximum(np.abs(lo), np.abs(hi)), 1e-30)
    rows = np.concatenate([np.c_[v, unit], np.c_[-v, unit]]) * np.r_[s, s][:, None]
    r = linprog([0, 0, 0, -1], A_ub=rows, b_ub=np.r_[hi * s, -lo * s],
                bounds=[(None, None)] * 3 + [(None, 1e4)], method="highs")
    assert r.status == 0, r.message
    q0, q1, q2, margin = r.x
    return [q0 - q1 * c / w + q2 * c * c / w / w, q1 / w - 2 * q2 * c / w / w, q2 / w / w], margin


def fma(a, b, c):
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(f32)


def emit(name, lim, scale, pieces, margin):
    print(f"/* margin: {margin:.1f} */" if margin is not None else "")
    print(f"static const Pieces pieces_{name} = {{ {scale!r}f, {lim:#x}, {{")
    for k in range(3):
        row = [f"{f32(p[k]):.9g}" for p in pieces]
        row = [(v if "." in v or "e" in v else v + ".0") + "f" for v in row]
        print("  {")
        for i in range(0, PIECES, 4):
            print("    " + " ".join(v + "," for v in row[i:i + 4]))
        print("  }," if k < 2 else "  } } };")


def fit(name):
    fn, top, form = FUNCTIONS[name]
    lim = bits(top)
    scale = math.floor((PIECES - 1) / top * 64) / 64
    if form == "odd":
        h = np.arange(1, lim + 1)
    else:
        h = np.arange(0x100, lim + 1)
        h = np.r_[h, h | 0x8000]
    x = wide(h)
    a = np.abs(x)
    want = rounded(fn(x))
    lo, hi = bounds(want)
    pos = x > 0
    add, mul = {"odd": (0 * x, x), "ramp": (np.maximum(x, 0), a),
                "step": (0 * x + 0.5, np.where(pos, 1.0, -1.0))}[form]
    unit = np.maximum(np.abs(lo), np.abs(hi)) * 2.0**-24 / np.abs(mul)
    if form == "step":
        unit = 0 * x + 2.0**-25
    l, u = (lo - add) / mul, (hi - add) / mul
    l, u = np.minimum(l, u), np.maximum(l, u)
    seg = np.rint(a * scale).astype(int)
    pieces, worst = [], 1e9
    for j in range(PIECES):
        m = seg == j
        p, margin = solve(a[m], l[m], u[m], unit[m], j / scale, 0.5 / scale) if m.any() else (pieces[-1], 1e9)
        pieces.append(p)
        worst = min(worst, margin)
    c = np.array(pieces).astype(f32)[seg]
    af = a.astype(f32)
    p = fma(fma(c[:, 2], af, c[:, 1]), af, c[:, 0])
    y = fma(p, mul.astype(f32), add.astype(f32))
    got = ((y.view(np.uint32).astype(np.uint64) + 0x8000) >> 16).astype(np.int64)
    assert (got == want).all(), (name, x[got != want])
    emit(name, lim, scale, pieces, worst)


LOG_TURN = 0x34          # mantissas from here on (of 128) count as below 1


def fit_log():
    """log x = e ln 2 + p(m), m the mantissa in 1..2, e one more above the turn; a piece has four m."""
    ln2 = f32(math.log(2))
    h = np.arange(0x80, 0x7F80)
    x = wide(h)
    e = ((h - 0x3F80 + 0x80 - LOG_TURN) >> 7).astype(np.float64)
    m = wide((h & 0x7F) | 0x3F80)
    want = rounded(np.log(x))
    lo, hi = bounds(want)
    l, u = lo - e * float(ln2), hi - e * float(ln2)
    unit = np.maximum(np.abs(lo), np.abs(hi)) * 2.0**-25 + 2.0**-24
    seg = (h & 0x7F) >> 2
    pieces, worst = [], 1e9
    for j in range(PIECES):
        k = (seg == j)
        one = k & (x == 1)
        l[one], u[one], unit[one] = -1e-9, 1e-9, 0
        p, margin = solve(m[k], l[k], u[k], unit[k], 1 + j / 32 + 3 / 256, 3 / 256)
        if one.any():    # exactly 0 at 1
            p = [float(f32(v)) for v in p]
            p[0] = -float(fma(f32([p[2]]), f32([1]), f32([p[1]]))[0])
        pieces.append(p)
        worst = min(worst, margin)
    c = np.array(pieces).astype(f32)[seg]
    mf = m.astype(f32)
    p = fma(fma(c[:, 2], mf, c[:, 1]), mf, c[:, 0])
    y = fma(e.astype(f32), np.full(len(h), ln2), p)
    got = ((y.view(np.uint32).astype(np.uint64) + 0x8000) >> 16).astype(np.int64)
    bad = got != want
    assert not bad.any(), ("log", worst, x[bad])
    emit("log", 0, 0.0, pieces, worst)


def roots():
    h = np.arange(0x3F80, 0x4080)
    d = (h >> 1) + 0x1FC0 - rounded(np.sqrt(wide(h)))
    assert d.min() >= 0 and d.max() < 16
    d = d.reshape(64, 4)
    t = d[:, 0] | d[:, 1] << 4 | d[:, 2] << 8 | d[:, 3] << 12
    print("static const uint16_t root_excess[64] = {")
    for i in range(0, 64, 8):
        print("  " + " ".join(f"{v:#06x}," for v in t[i:i + 8]))
    print("};")


print("""/* SPDX-License-Identifier: MIT
** kernel/pw_pieces.def: the parabolas of pw_pieces_int.h, made by
** scripts/fit_bf16.py.  Each: scale, largest |x| as bf16, then the 32 constant,
** linear and square coefficients. */
static const Pieces pieces_exp = { .lim = 0x42ae };     /* 87 */
static const Pieces pieces_sqrt = { .lim = 0 };""")
for n in FUNCTIONS:
    print()
    fit(n)
print()
fit_log()
print()
roots()
