# SPDX-License-Identifier: MIT
# decimal: what is too large, too small or trapped, and what is set when it is not.
from decimal import *
D = Decimal


def t(f):
    try:
        return repr(f())
    except Exception as e:
        return f"{type(e).__name__} {e}"


def P(n, **given):
    return Context(prec=n, **given)


for f in (lambda: D("1e999999") * 10, lambda: D("9e999999") + D("9e999999"), lambda: D("1e999999") / D("1e-9"), lambda: D("2302586").exp(), lambda: D(10) ** 1000000, lambda: D("1e999999").scaleb(1), lambda: D("1e-999999") / D("1e999"), lambda: D("1e999999999"), lambda: D("1e9999999999999999999"), lambda: D("0e-9999999999999999999"), lambda: int(D("1e-999999999")), lambda: D("0e999999999").quantize(D(1)), lambda: D("2.675").quantize(D("0.01"), "nope")):
    print(t(f), flush=True)
for x, y in [("2", "1e999999"), ("2", "1e10"), ("2", "-3321921"), ("2", "-10000000"), ("1.1", "1e20"), ("0.9", "1e30"), ("1e999999", "0.5"), ("1e999999", "-1"), ("1e-999999", "1e-999999"), ("2", "1e-40"), ("0.5", "1e-40"), ("-2", "10000001"), ("1e20", "0.5"), ("1e20", "-0.5"), ("12345678901234567", "1.5"), ("1.0000000000000000000000001", "1e20")]:
    print(x, y, t(lambda: D(x) ** D(y)), flush=True)
for x, y in [("1e999999", "3"), ("3", "1e999999"), ("3", "1e-999999"), ("0.1", "3"), ("0e9", "3"), ("10", "6"), ("1e-9", "1.23456")]:
    print(x, y, t(lambda: D(x).remainder_near(D(y))), flush=True)
for n in ("30", "-30", "1e999", "3", "-3", "3000000"):
    print(n, t(lambda: D(123).shift(D(n))), t(lambda: D(123).rotate(D(n))), t(lambda: D(1).scaleb(D(n))), flush=True)
tight = dict(Emax=9, Emin=-9)
for traps in ([], [Overflow], [Rounded], [Rounded, Inexact], [Subnormal, Rounded], [Underflow, Subnormal, Inexact], [Overflow, Rounded, Inexact]):
    for f in (lambda c: c.add(D("9e9"), D("1e9")), lambda c: c.divide(1, 3), lambda c: c.divide(1, 4), lambda c: c.divide(D("1e-9"), 3), lambda c: c.power(D("-7"), 117), lambda c: c.power(7, -117)):
        c = P(5, traps=traps, **tight)
        print(t(lambda: f(c)), sorted(s.__name__ for s in c.flags if c.flags[s]), flush=True)
for given in (dict(Emin=1), dict(Emax=-1), dict(capitals=2), dict(clamp=3)):
    print(t(lambda: Context(**given)))
for x, s in [("1.5", "010,"), ("1234.5", "012,"), ("-1234567.891", "018,.2f"), ("1E+5", "010,"), ("0", "04,"), ("123", "03,")]:
    print(x, s, t(lambda: format(D(x), s)))
