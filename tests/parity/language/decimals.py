# SPDX-License-Identifier: MIT
# decimal: numbers, contexts, formats.
import decimal; from decimal import *
import math
D = Decimal
vals = ["0", "-0", "1", "-1", "10", "0.1", "1E+3", "1E-7", "123.456", "-2.5", "2.5", "9.99", "7", "-7", "3", "0.000001", "12345678901234567890.123456789", "1.10", "NaN", "Infinity", "-Infinity", "0E+5", "5E-20", "-635958E-5", "69897E7"]
def t(f):
    try: return repr(f())
    except Exception as e: return f"{type(e).__name__} {e}"
for a in vals:
    x = D(a); print(a, repr(x), x.as_tuple(), t(lambda: hash(x) if x.is_finite() else 0), t(lambda: int(x)), t(lambda: float(x)), t(lambda: round(x)), t(lambda: round(x, 2)), x.adjusted(), t(lambda: x.normalize()), -x, abs(x), t(lambda: x.sqrt()), t(lambda: x.quantize(D("0.01"))), t(lambda: x.quantize(D("1E+1"), ROUND_UP)), t(lambda: x.to_integral_value(ROUND_HALF_UP)), x.to_eng_string(), t(lambda: x.as_integer_ratio()), flush=True)
    if x.is_finite() and abs(x) < 1000: print("elog", t(lambda: x.exp()), t(lambda: x.ln()), t(lambda: x.log10()), flush=True)
    for s in ("", ".2f", ",.2f", "e", ".3e", "g", ".3g", "+.1f", "010.2f", ">12", "^14.2%", "%", ",", "_", ".0f", "f", "*^20", "E", ".0e"): print(s, t(lambda: format(x, s)), end="; ")
    print(flush=True)
    for b in vals[:22:3]:
        y = D(b); print(a, b, t(lambda: x + y), t(lambda: x - y), t(lambda: x * y), t(lambda: x / y), t(lambda: x // y), t(lambda: x % y), t(lambda: divmod(x, y)), t(lambda: x == y), t(lambda: x < y), t(lambda: x.compare(y)), t(lambda: max(x, y)), t(lambda: x.max(y)), flush=True)
for a, b in [("2", "0.5"), ("2", "10"), ("2", "-1"), ("3", "-2"), ("1.5", "3"), ("10", "-3"), ("0", "3"), ("0", "0"), ("-2", "3"), ("-8", "0.5"), ("4", "0.5"), ("1.1", "100"), ("2", "0.3"), ("1.0", "5"), ("100", "0.5"), ("9", "-0.5"), ("2", "200"), ("7", "0")]: print(a, b, t(lambda: D(a) ** D(b)), t(lambda: D(a) ** 2), flush=True)
for p in (1, 9):
    for r in (ROUND_DOWN, ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_HALF_DOWN, ROUND_05UP):
        with localcontext() as c:
            c.prec, c.rounding = p, r
            for a in vals[:16:2]: print(p, r, a, t(lambda: D(a) / D(3)), t(lambda: D(a) + D("0.05")), t(lambda: D(a).sqrt()), t(lambda: D(a) * D(a)), t(lambda: f"{D(a):.1f}"), t(lambda: D(a).quantize(D("0.1"))))
for f in (0.1, 1.5, -0.0, 1e300, float("inf"), 3): print(repr(D(f)), D(f) == f, D("0.1") == f, D("1") < f)
for bad in (lambda: D("abc"), lambda: D(1) / 0, lambda: D(0) / 0, lambda: D(1) + 1.5, lambda: D(None), lambda: D((0, (1, 2), -1)), lambda: D((2, (1,), 0)), lambda: D(1) % 0, lambda: D("-1").sqrt(), lambda: D("1") + "a", lambda: getcontext(), lambda: Context(5), lambda: setattr(getcontext(), "prec", 0), lambda: sum([D("0.1")] * 3), lambda: D("1_000.5"), lambda: D(" 5 "), lambda: D("5 5"), lambda: {D(1): 2}[1], lambda: D("NaN") == D("NaN"), lambda: D("NaN") < 1, lambda: D(True), lambda: format(D(1), "d"), lambda: D(5).scaleb(3), lambda: Context(prec=3).create_decimal("3.14159"), lambda: Context(prec=4).divide(D(1), D(3)), lambda: sorted([D(3), D(1), 2]), lambda: D("2.50").normalize() == D("2.5"), lambda: D(10).same_quantum(D(3)), lambda: math.sqrt(D(4)), lambda: isinstance(D(1), float), lambda: issubclass(DivisionByZero, ZeroDivisionError), lambda: pow(D(3), 4, 5)): print(t(bad), flush=True)
