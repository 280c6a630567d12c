# SPDX-License-Identifier: MIT
# f.__code__, f.__closure__, f.__globals__.
def f(a, b=2, /, c=3, *args, d, e=5, **kw): return a
print(f.__code__.co_varnames, f.__code__.co_argcount, f.__code__.co_posonlyargcount, f.__code__.co_kwonlyargcount, f.__code__.co_name, f.__code__.co_firstlineno, f.__closure__, f.__code__.co_freevars)
def outer(n):
    m = n * 2
    def inner(x): return x + n + m
    def bump():
        nonlocal n; n += 1; return n
    return inner, bump
i, b = outer(3); b()
print(i.__code__.co_freevars, [c.cell_contents for c in i.__closure__], i(1), b.__closure__[0].cell_contents, outer.__closure__)
print((lambda x, *, y: 1).__code__.co_varnames, (lambda: f).__closure__)
def deco(fn):
    names = fn.__code__.co_varnames[:fn.__code__.co_argcount]
    def w(*a, **k):
        print(dict(zip(names, a)), k); return fn(*a, **k)
    return w
@deco
def g(x, y): return x * y
print(g(2, y=3))
class C:
    def m(self): return super().__init__()
print(C.m.__code__.co_freevars, C.m.__closure__[0].cell_contents, C().m.__code__.co_name)
print(f.__globals__ is not None, "outer" in f.__globals__)
fs = [lambda k=k: k for k in range(2)]
print([h.__defaults__ for h in fs], [h.__code__.co_varnames for h in fs])
