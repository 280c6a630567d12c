# SPDX-License-Identifier: MIT
def f(a, b=2, *c, d=4, **e): return a, b, c, d, e
print(f(1), f(1, 2, 3, d=5, z=6), f(*[1, 2], **{"d": 3}), (lambda x, y=1: x + y)(2))
def gen(n):
    for i in range(n):
        got = yield i
    return
print(list(gen(3)), sum(gen(4)), [*gen(2)])
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
import itertools
print(list(itertools.islice(fib(), 8)), [x for x, _ in zip(fib(), range(3))])
def outer():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    inc(); return inc()
print(outer())
G = 1
def setg():
    global G
    G = 5
setg(); print(G)
for i in range(3):
    if i == 1: continue
    if i == 9: break
else: print("else ran")
i = 0
while i < 3:
    i += 1
    if i == 2: break
else: print("never")
def t(n):
    try:
        if n == 0: return "ret"
        if n == 1: raise ValueError("v")
        if n == 2: return [][1]
        if n == 3: 1 / 0
        if n == 4: {}["k"]
        if n == 5: int("x")
        if n == 6: None.foo
        if n == 7: undefined_name
        if n == 8: "a" + 1
        if n == 9: raise NotImplementedError
        if n == 10: assert n < 5, f"n is {n}"
        if n == 11: [1, 2, 3].index(7)
        if n == 12: len(5)
        if n == 13: f()
        if n == 14: a, b = [1, 2, 3]
        if n == 15: int(None)
        if n == 16: next(iter([]))
    except (ValueError, IndexError) as e: return f"VI {type(e).__name__}: {e}"
    except ZeroDivisionError as e: return f"Z {e}"
    except Exception as e: return f"{type(e).__name__}: {e}"
    else: return "else"
    finally: print("fin", end=" ")
for n in range(18): print(t(n))
try:
    try: raise KeyError("a")
    except KeyError as e: raise RuntimeError("b") from e
except RuntimeError as e: print(e, type(e.__cause__).__name__)
class CM:
    def __enter__(self): print("in"); return 5
    def __exit__(self, t, v, tb): print("out", t.__name__ if t else None); return t is ValueError
with CM() as v: print(v)
with CM(): raise ValueError("swallowed")
from contextlib import contextmanager, nullcontext, ExitStack, suppress
@contextmanager
def cm(x):
    print("enter", x)
    try: yield x + 1
    finally: print("leave")
with cm(1) as y, nullcontext(7) as z: print(y, z)
with suppress(KeyError): {}["a"]
if (n := 10) > 5: print(n)
x = 5; print(1 < x <= 5, x if x else 0, x and 0 or 3, not x, x is None, 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 16 >> 2, x == 5 != 4)
x += 1; x -= 2; x *= 3; x //= 2; x **= 2; x %= 7; print(x); del x
def deco(k):
    def wrap(fn):
        import functools
        @functools.wraps(fn)
        def inner(*a, **kw): return fn(*a, **kw) * k
        return inner
    return wrap
@deco(3)
def three(v): "doc"; return v
print(three(2), three.__name__, three.__doc__ if False else "d")
def g2():
    yield from [1, 2]
    yield 3
print(list(g2())); pass; ...
print((lambda *a, **k: (a, k))(1, z=2)); assert True
async_ = 1; print(async_, 1_000, 0xff, 0b11, 0o7, 1e3)

# Targets in brackets.
for (x,) in [(1,), (2,)]:
    print(x)
for (a, b), [c] in [((1, 2), [3])]:
    print(a, b, c)
for (i), (j,) in [(1, (2,))]:
    print(i, j)
print([x for (x,) in [(5,)]], {k: v for (k, v) in {1: 2}.items()})
(y,) = [7]
[z], *w = [8], 9, 10
print(y, z, w)
