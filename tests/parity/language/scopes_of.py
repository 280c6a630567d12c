# SPDX-License-Identifier: MIT
x = 7
def f():
    x = 1
    def g():
        global x
        def i():
            def h(): return x
            return h()
        return i()
    return g()
print("scope1", f())
def f():
    x = 1
    def g():
        global x
        x = 2
        def i():
            def h(): return x
            return h()
        return i()
    return g()
print("scope2", f(), x)
class X:
    locals()["x"] = 43
    del x
print("delx", hasattr(X, "x"))
def test(x):
    class Foo:
        global x
        def __call__(self, y): return x + y
    return Foo()
x = 0
print(test(6)(2)); x = -1; print(test(3)(5))
class X:
    locals()["x"] = 43
    y = x
print(X.y)
y = 16
def f():
    global y
    def inner(): return y
    return inner()
def g():
    def h(): return y
    return h()
print(f(), g())
def f(x):
    def g(y):
        def h(z): return y + z
        w = x + y
        y += 3
        return locals()
    return g
d = f(2)(4)
print(sorted((k, v) for k, v in d.items() if k != "h"), "h" in d)
def f():
    print(x); x = 3
try: f()
except UnboundLocalError as e: print(type(e).__name__, e)
class C:
    a = 1
    b = [a for a in [a]]
    try: c = [a for _ in [1] for q in [a]]
    except NameError as e: print(e)
def f(a, b=[]):
    b.append(a); return b
print(f(1), f(2))
def outer():
    n = 0
    def inc():
        nonlocal n
        n += 1
        def deeper():
            nonlocal n
            n += 10
        deeper()
        return n
    return inc
i = outer(); print(i(), i())
class M:
    x = 5
    class N:
        try: y = x
        except NameError: y = "none"
print(M.N.y)
def f():
    exec("zz = 3")
    return "zz" in locals()
print(f())
try:
    super()
except RuntimeError as e: print(e)
class S:
    def f(self):
        super = lambda: "mine"
        return super()
print(S().f())
def f():
    return [lambda: i for i in range(3)]
print([g() for g in f()])
def f(): 
    i = "outer"
    l = [i for i in range(3)]
    return i, l
print(f())
for _ in range(1):
    pass
else: print("else")
try:
    raise ValueError("a")
except ValueError as e: pass
try: e
except NameError as err: print(err)
def gen():
    try:
        yield 1
    finally: print("fin")
g = gen(); next(g); g.close()
def r():
    try: return 1
    finally: return 2
print(r())
def r():
    for i in range(3):
        try: continue
        finally: print("c", i)
r()
def r():
    while True:
        try: break
        finally: print("b")
    return "end"
print(r())
print([*range(3), *"ab"], {**{"a": 1}, "b": 2}, (*[1], 2))
a, *b = "abc"; print(a, b)
*a, b = range(3); print(a, b)
[a, [b, c]] = 1, (2, 3); print(a, b, c)
print(1 < 2 < 3, 1 < 3 < 2, not 1 == 2)
print(f"{3!r:>5}|{2.5:.2f}|{'x':*^5}|{10:#x}|{1e10:,}|{1234567:_}")
print(0.1 + 0.2, 1e16, 1e-5, 123456789.123, float("nan"), -0.0, 1e22, 5e-324)
print(round(2.5), round(3.5), round(-0.5), round(1.25, 1), round(1234, -2))
print(divmod(-7, 2), -7 // 2, -7 % 2, 7 % -2, -7.5 % 2, 2 ** -1, (-8) ** (1/3))
print(int("0x1f", 16), int("  12 "), int("1_000"), int(3.9), int(-3.9), int("z", 36))
class C: pass
C.__call__ = C()
try: C()()
except RecursionError as e: print("RE")
a, b, c = TypeError(1), TypeError(2), ValueError(3)
a.__context__, b.__context__ = b, a
try:
    try: raise a
    except TypeError: raise c
except ValueError as e: print(repr(e), repr(e.__context__))
for v, spec in ((1, "z"), (1, "zd"), ("a", "z"), (-0.0, "z.1f"), (-1e-9, "z.2e"),
                (-0.001, "z.1%"), (float("-inf"), "z"), (1, "zf"), (-0.04, "z,.1f"),
                (-0.0, "z"), (-0.0, ""), (-12.5, "z.0f")):
    try: print(format(v, spec))
    except ValueError as e: print(e)
