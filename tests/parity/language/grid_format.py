# SPDX-License-Identifier: MIT
# Every combination of the parts of a format, new and old.
import itertools
from lib.answers import answer

for value in (0, 7, -1234567, 10**21, True):
    for align, sign in itertools.product(("", "<", "*>", "^", "=", "0="), ("", "+", " ", "-")):
        print(value, align, sign, [answer(lambda: format(value, align + sign + rest)) for rest in (
            "", "d", "#x", "08", "12,", "_d", "#b", "_b", "#012o", "X", "1", ".2", "n", "s", ",x", "e", ".0f", "%", "012,d", "09_x")])
for value in (0.0, -0.0, 1.5, -2.5, 0.1, 1234567.891, 1e-7, 1e22, float("inf"), float("-inf"), float("nan"), 99.995, 1e16):
    print(value, repr(value), [answer(lambda: format(value, s)) for s in (
        "", "f", ".0f", ".1f", ".3f", "e", ".0e", ".2E", "g", ".0g", ".3g", ".1G", "#g", "#.0f", "%", ".0%", ".1%",
        "10", "<10", "^10.2f", "010.1f", "+.2f", " .2f", "=+9.1f", ",.2f", "_.1f", "015,.1f", ".20g", "z.1f", ".3", ".1", "n", "d", "x", "s", ",", "*^+12,.1f")])
for value in ("", "a", "abcdef", "é"):
    print(repr(value), [answer(lambda: format(value, s)) for s in (
        "", "s", "5", "<5", ">5", "^5", "*^7", ".2", "8.3", "=5", "05", "+", ",", "d", ".0", "1.9", "x<3", "{>4", "#", "^4s")])
for value in (1 + 2j, -0.5j, complex(0, -0.0), None, [1], (1,), b"a"):
    print(value, [answer(lambda: format(value, s)) for s in ("", ".2f", "+.1e", "20", ">20", "g", "s", "d")])
for spec in ("%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%x", "%#x", "%#o", "%X", "%c", "%s", "%r", "%a", "%10s", "%-10s|", "%.2s", "%f", "%.0f", "%8.3f", "%e", "%G", "%g", "%#.3g", "%i", "%u", "%%", "%.3d", "%08.2f", "%+.1e", "%b", "%y", "%", "%(a)s", "%*d", "%.*f"):
    print(spec, [answer(lambda: spec % v) for v in (0, -7, 65, 3.75, -0.5, "abc", (1, 2), (5, 2.5), {"a": 1}, None, True, float("inf"))])
pieces = ["{}", "{0}", "{1}", "{a}", "{0.real}", "{0[0]}", "{a[k]}", "{!r}", "{!s:>5}", "{!a}", "{:{}}", "{:{w}}", "{{}}", "{", "}", "{:>{w}.{p}}", "{0}{}", "{}{0}", "{2}", "{b}", "{a.b}", "{0[x]}", "{:d}", "{!}", "{a", "{0:}}", "{ 0}"]
for p in pieces:
    print(p, answer(lambda: p.format("xé", 6, a={"k": 1}, w=4, p=1)), answer(lambda: p.format(3, a=[1], w=2, p=0)), answer(lambda: p.format()), p[1:2] == "a" and answer(lambda: p.format_map({"a": {"k": 2}, "w": 3})))
x, w, y = 3.14159, 10, "é"
print(f"{x:.2f}|{x!r:>{w}}|{y!a}|{x=}|{x=:.1f}|{ x = }|{y=!s}|{{}}|{w:0{w}}|{'a' 'b'}|{y:^{w}}|{x if w else y}|{[1, 2][0]}|{ {1: 2}[1]}|{(lambda v: v * 2)(w)}|{w:>{w // 2}}|{y!r:*^{w}}")
