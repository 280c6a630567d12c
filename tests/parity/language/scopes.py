# SPDX-License-Identifier: MIT
x = 10
def f():
    x = 20
    def g():
        nonlocal x
        x += 1
        return x
    return g(), x
print(f(), x)
def h():
    global x
    x = 99
h(); print(x)
fs = [lambda i=i: i for i in range(3)]; print([f() for f in fs])
fs = [lambda: i for i in range(3)]; print([f() for f in fs])
i = "outer"; [i for i in range(3)]; print(i)
for i in range(2): pass
print(i)
class K:
    y = 5
    z = [y for _ in range(2)] if False else y
    def m(self):
        try: return y
        except NameError as e: return str(e)
print(K().m(), K.z)
def counter():
    n = 0
    def inc(by=1):
        nonlocal n; n += by; return n
    return inc
c = counter(); c(); print(c(5))
print([y := 5, y**2], y)
if (n := len([1,2,3])) > 2: print(n)
def deco(*args, **kw):
    def wrap(fn):
        def inner(*a, **k):
            print("before", args, kw, fn.__name__)
            return fn(*a, **k)
        return inner
    return wrap
@deco(1, x=2)
@deco()
def target(a): return a
print(target(4))
def unbound():
    try:
        print(q)
        q = 1
    except UnboundLocalError as e: print(e)
unbound()
try:
    raise ValueError("a")
except ValueError as e: pass
try: e
except NameError as ex: print(ex)
def default(a, l=[]):
    l.append(a); return l
default(1); print(default(2))
def loc():
    a = 1; b = 2
    return sorted(locals())
print(loc(), "x" in globals())
