# SPDX-License-Identifier: MIT
# Calls by name and with defaults, filled at once or worded by what refuses;
# sorting of plain keys, of mixed ones, in both directions.
def f(a, b=2, *, c=3): return a, b, c
def g(a, /, b, *, c): return a, b, c
def h(*a, k=1): return a, k
def gen(a, b=1): yield a, b
class C:
    def __init__(self, x, *, y=2): self.x, self.y = x, y
    def m(self, a, b=5, *, c=6): return self.x, a, b, c
    @classmethod
    def k(cls, a, b=1): return cls.__name__, a, b
    @staticmethod
    def s(a, b=1): return a, b
c = C(1, y=9)
print(f(1), f(1, c=4), f(b=1, a=2), f(1, 2, c=5), g(1, b=2, c=3), h(1, 2, k=3), h(k=2), list(gen(1, b=3)))
print(c.y, C(x=4).x, c.m(1), c.m(1, c=2), c.m(b=1, a=0), c.k(1, b=2), C.k(a=1), C.s(1, b=3), c.s(b=1, a=2))
print((lambda a, b=1: (a, b))(1, b=2), dict(a=1, b=2), sorted([2, 1], reverse=True), "a b".split(sep=" "), int("11", base=2))
for call in (lambda: f(), lambda: f(1, a=2), lambda: f(1, 2, 3), lambda: f(1, z=2), lambda: g(a=1, b=2, c=3),
             lambda: g(1, 2), lambda: g(1, 2, c=3, d=4), lambda: c.m(), lambda: c.m(1, a=2), lambda: C(), lambda: C(1, z=2),
             lambda: h(a=1), lambda: g(1, 2, 3), lambda: f(1, 2, 3, c=4)):
    try: print(call())
    except TypeError as e: print(e)
def mutable(a, b=[]): b.append(a); return b
mutable(1); print(mutable(a=2), mutable(3, b=[]))
def order(a, b): return a - b
def tell(n): print("asked", n); return n
print(order(b=tell(1), a=tell(5)))
rows = [("b", 2), ("a", 2), ("c", 1), ("a", 1)]
print(sorted(rows), sorted(rows, key=lambda r: r[1]), sorted(rows, key=lambda r: r[1], reverse=True), sorted(rows, key=lambda r: -r[1]))
print(sorted([3, 1.5, 2, True, 10**20, -1]), sorted("hello world"), sorted([[2], [1, 5], [1]], reverse=True), sorted([]), sorted([1]))
print(sorted(range(20), key=lambda x: x % 3), sorted(range(20), key=lambda x: x % 3, reverse=True), sorted(["é", "z", "a", "Z"]))
for bad in ([1, "a"], [None, 1], [1, 2j], [{}, {}]):
    try: print(sorted(bad))
    except TypeError as e: print(e)
print(str(5), str(-2**63), str(1.0), str(True), str(2**70), f"{7}{1.5}")
class E(Exception):
    def __init__(self, a, *, b=1): super().__init__(a, b); self.b = b
try: raise E("x", b=3)
except E as e: print(e, e.args, e.b)
