# SPDX-License-Identifier: MIT
import itertools
import math
import warnings
import torch
import torch.nn.functional as F
from lib.answers import answer

warnings.simplefilter("ignore")

# Two operands of each pair of dtypes, at zeros, signs, bounds and infinities.
inf, nan = math.inf, math.nan
floats = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, inf, -inf, nan], dtype=torch.float64)
whole = torch.tensor([0, 1, -1, 2, -3, 7, 64])
small = torch.tensor([0, 1, 3, 200, 255], dtype=torch.uint8)
flags = torch.tensor([True, False])
names = """add sub mul div true_divide floor_divide remainder fmod pow atan2 hypot copysign nextafter ldexp gcd lcm bitwise_and
bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift xlogy logaddexp logaddexp2 heaviside maximum minimum fmax fmin
eq ne lt le gt ge logical_and logical_or logical_xor float_power rsub dist""".split()
sides = {"floats": floats, "whole": whole, "small": small, "flags": flags}
for name in names:
    f = getattr(torch, name)
    for a, b in itertools.product(sides, sides):
        if a == "floats" or b == a or name in ("pow", "remainder", "floor_divide", "ldexp"):
            x, y = sides[a], sides[b]
            if name in ("floor_divide", "remainder", "fmod") and a != "floats" and b != "floats":
                y = y[y != 0]
            if "shift" in name:
                y = y[(y >= 0) & (y < 8)] if y.dtype != torch.bool and b != "floats" else y
            if name == "pow" and b == "whole" and a in ("whole", "small"):
                y = y[y >= 0]
            if name == "dist":
                print(name, a, b, answer(lambda: f(x[2:4], y[:2])))
                continue
            print(name, a, b, answer(lambda: f(x[:, None], y)))
for kind in (torch.float8_e4m3fn, torch.bool, torch.complex64):
    ones = torch.ones(3).to(kind)
    for y in (ones, ones[:1], ones[0], torch.tensor(2.0), torch.ones(1)):
        print("floor_divide", str(kind)[6:], list(y.shape), answer(lambda: torch.floor_divide(ones, y)))
for f in (torch.floor_divide, torch.remainder, torch.fmod):
    print(f.__name__, answer(lambda: f(whole, 0)), answer(lambda: f(floats, 0.0)), answer(lambda: f(7, whole[1:])) if f is torch.remainder else "")
for mode in (None, "trunc", "floor", "round"):
    print("div", mode, answer(lambda: torch.div(floats[:, None], floats, rounding_mode=mode)), answer(lambda: torch.div(whole[:, None], whole[1:], rounding_mode=mode)), answer(lambda: torch.div(floats, 0, rounding_mode=mode)))
    if mode not in (None, "round"):
        print("  bfloat16", answer(lambda: torch.div(floats.bfloat16()[:, None], floats.bfloat16(), rounding_mode=mode)))
for kind in (torch.float32, torch.bfloat16):
    a = floats.to(kind)
    for name in ("remainder", "fmod", "floor_divide", "pow", "atan2", "hypot", "maximum", "fmin", "copysign", "heaviside", "nextafter", "logaddexp"):
        print(name, str(kind)[6:], answer(lambda: getattr(torch, name)(a[:, None], a)))
for e in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, True):
    print("pow", e, [answer(lambda: t ** e) for t in (floats, whole, small, flags)], [answer(lambda: e ** t) for t in (floats, whole[[0, 1, 3, 5]], small[:3], flags)])
for lo, hi in itertools.product((None, -1, 0.5, nan), (None, 2, -2, inf)):
    print("clamp", lo, hi, [answer(lambda: torch.clamp(t, lo, hi)) for t in (floats, whole, small)])
for name in ("isclose", "allclose", "equal"):
    print(name, [answer(lambda: getattr(torch, name)(a, b, **o)) for a, b in ((floats, floats), (whole, whole + 1), (floats[:3], floats[:3] + 1e-6)) for o in (({}, {"rtol": 1e-3}, {"atol": 2.0}, {"equal_nan": True}) if name != "equal" else ({},))])
print([answer(lambda: torch.lerp(floats[:6], floats[1:7], w)) for w in (0.0, 0.4, 0.5, 1.0, floats[:6].abs() / 3)])
print([answer(lambda: torch.addcmul(floats[:4], floats[2:6], floats[1:5], value=v)) for v in (1, 0, -2)], [answer(lambda: torch.addcdiv(floats[:4], floats[2:6], floats[2:6], value=v)) for v in (1, 0, -2)])
print(answer(lambda: torch.cross(floats[1:4], floats[2:5], dim=0)), answer(lambda: torch.outer(whole, whole)), answer(lambda: torch.kron(whole[:2], whole[2:4])), answer(lambda: torch.cdist(floats[2:6].view(2, 2), floats[1:7].view(3, 2), p=1.0)), [answer(lambda: torch.cdist(floats[2:6].view(2, 2), floats[1:7].view(3, 2), p=p)) for p in (0.0, 2.0, 3.0, inf)])
print([answer(lambda: torch.where(whole > 0, a, b)) for a, b in ((whole, 0), (1.5, whole), (flags[0], 2), (small[0], whole))], [str(torch.result_type(a, b)) for a, b in itertools.product((floats, whole, small, flags, floats.bfloat16(), 1, 1.5, True), repeat=2) if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor)])
