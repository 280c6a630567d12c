# SPDX-License-Identifier: MIT
def f(a, b, c=3, *, d, e=5): return (a,b,c,d,e)
def g(a, b): pass
def h(*, x, y): pass
def k(a, /, b): return a, b
def m(): pass
def o(a, b=2): pass
class C:
    def __init__(self, x): self.x = x
    def meth(self, p): return p
tests = [lambda: f(1), lambda: f(), lambda: f(1, 2), lambda: f(1, 2, 3, 4, d=1),
         lambda: f(1, 2, d=1, z=3), lambda: f(1, 2, a=3, d=1), lambda: g(), lambda: g(1, 2, 3),
         lambda: h(), lambda: h(1), lambda: h(x=1), lambda: m(1), lambda: m(x=1), lambda: o(),
         lambda: o(1, 2, 3), lambda: C(), lambda: C(1, 2), lambda: C(y=1), lambda: C(1).meth(),
         lambda: C(1).meth(1, 2), lambda: k(a=1, b=2), lambda: k(1, b=2), lambda: C(1).nope,
         lambda: C.nope, lambda: g(1, *[2, 3]), lambda: g(**{"a": 1, "c": 2}), lambda: None.x,
         lambda: [][1], lambda: {}["a"], lambda: "a" + 1, lambda: 1.5 // 0, lambda: {[]: 1},
         lambda: 5 in 5, lambda: max([]), lambda: min(), lambda: abs("a"),
         lambda: list(zip([1], [1, 2], strict=True)), lambda: isinstance(1, "int")]
for i, t in enumerate(tests):
    try:
        r = t()
        print(i, "ok", r)
    except Exception as e:
        print(i, type(e).__name__, e)
