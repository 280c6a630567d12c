# SPDX-License-Identifier: MIT
# The module math, texts of floats and fields of templates, as CPython has them.
import math
inf, nan = math.inf, math.nan
values = [0, 1, -1, 2, 0.5, -0.5, 1e-300, 1e300, 1e-20, 710.0, -745.2, 3, 170.5, 171.7, inf, -inf, nan, True, 10**30, 2**63, -2.5, 7.999]
def t(name, *a):
    try:
        r = getattr(math, name)(*a)
        print(name, a, repr(r))
    except Exception as e:
        print(name, a, type(e).__name__, e)
for n in ("acosh asinh atanh cbrt erf erfc log1p tanh cosh sinh expm1 sin cos tan asin acos sqrt atan exp fabs radians degrees log log2 log10 frexp modf ulp floor ceil trunc isnan isinf isfinite").split():
    for v in values: t(n, v)
for n in "atan2 copysign nextafter remainder fmod pow hypot isclose".split():
    for x in (0, -0.0, 1, -2.5, inf, nan, 1e308, 3):
        for y in (0, -0.0, 2, -3.5, -inf, 1e-3):
            t(n, x, y)
for a in ((8, 3), (5, 0), (0, 0), (-8, 12), (10**30, 10**20), (3, 10**20)): t("gcd", *a); t("lcm", *a)
for a in ((5, 2), (5, 7), (60, 30), (0, 0), (-1, 2), (3, -1), (10**20, 2)): t("comb", *a); t("perm", *a)
t("perm", 5); t("perm", 5, None); t("gcd"); t("lcm"); t("gcd", 12); t("gcd", 2.0); t("hypot"); t("hypot", 1, 2, 3)
for a in (0, 1, 5, 25, -1, 2.0): t("factorial", a)
for a in (0, 1, 2, 3, 15, 16, 10**40, 2**63 - 1, -4): t("isqrt", a)
for a in ([], [0.1] * 10, [1e100, 1, -1e100], [1e-16, 1, 1e16], [inf, 1], [inf, -inf], [1, 2, 10**20], [nan], [1e308, 1e308]): t("fsum", a)
t("prod", [1, 2, 3]); t("prod", []); t("prod", [2.5, 10**20])
t("ldexp", 1.5, 4); t("ldexp", 1, 5000); t("ldexp", 1, -5000); t("ldexp", 0, 9999)
t("dist", [1, 2], [4, 6]); t("dist", [1], [1, 2]); t("log", 8, 2); t("log", 10**400); t("log", 10**400, 10); t("log2", 2**200); t("log10", 10**50); t("log", 0); t("log", -1); t("log", 5, 1)
t("sqrt", "a"); t("floor", "a"); t("sqrt", 10**400); t("floor", 1e300); t("ceil", -1e300)
class F:
    def __float__(self): return 2.25
    def __floor__(self): return "f"
    def __index__(self): return 4

print(math.isclose(1, 1.1, rel_tol=0.2), math.isclose(1e-10, 0, abs_tol=1e-9), math.prod([2, 3], start=5), math.pi, math.e, math.tau)
for x in (1e15, 1e16, 1e16+2, 123456789012345680.0, 9999999999999998.0, 99999999999999990.0, 1.5e16, 1e17, 1e22, 1.2345e20, 0.0001, 0.00001234, 1e-5, 123456789.123, 2.0**53, 2.0**54, -3e16, 1/3, 1e100, 5e-324):
    print(repr(x), str(x), f"{x}", [x])
class A:
    x = 3
    y = [1, {"k": 5}]
print("{0.x} {0.y[0]} {1[k]} {a.y[1][k]:>4}".format(A(), {"k": 5}, a=A()), "{a.x!r}".format(a=A()))
print(hasattr("abc", "set_reach"), hasattr("abc", "upper"))
