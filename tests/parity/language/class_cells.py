# SPDX-License-Identifier: MIT
# super(), the cell of a class, slots, frames, and what waits in yield from.
import sys, inspect
def outer():
    x = 1
    return inner()
def inner():
    f = sys._getframe()
    return f.f_code.co_name, f.f_back.f_code.co_name, f.f_back.f_back.f_code.co_name, f.f_back.f_locals, f.f_lineno, f.f_back.f_back.f_back, sys._getframe(1).f_lineno, 'outer' in f.f_globals
print(outer())
def me(): return inspect.currentframe().f_code.co_name, inspect.currentframe().f_back.f_lineno
print(me())
try: sys._getframe(50)
except ValueError as e: print(e)
def gen():
    yield sys._getframe().f_code.co_name
print(next(gen()))
class A:
    def m(self):
        def n():
            super().__init__()
        try: n()
        except RuntimeError as e: print(e)
        def k(me):
            super().__init__()
            return 'ok'
        print(k(self))
        [super(A, self).__init__() for _ in range(1)]
        try: (lambda: super().__init__())()
        except RuntimeError as e: print(e)
        return (lambda s: super().__repr__()[:18])(self)
print(A().m())
class B:
    __slots__ = ('a',)
    y = 1
for s in ("del B().a", "del B().y", "B().y = 2", "B().z = 1", "type.__setattr__(A, b'x', 1)", "type.__setattr__(A, 'x', 1)"):
    try: exec(s); print(s, 'ok')
    except Exception as e: print(s, type(e).__name__, e)
print(A.x)
class Mock:
    @property
    def __class__(self): return int
m = Mock(); print(m.__class__, type(m).__name__, isinstance(m, int), isinstance(m, Mock))
def g(): yield from h()
def h():
    try: yield 1
    except KeyError: yield 2
x = g(); print(x.gi_yieldfrom); next(x); print(x.gi_yieldfrom.__name__, x.gi_code.co_name); print(x.throw(KeyError)); print((i for i in []).__qualname__, me.__code__.co_name)
def q(): return (i for i in [])
print(q().__qualname__, q().__name__)
class Meta(type):
    def __new__(m, n, b, ns, **kw):
        print(sorted(ns)); ns = dict(ns); ns['added'] = 1
        return super().__new__(m, n, b, ns)
class C(metaclass=Meta):
    def f(self): return __class__
    def r(self): return super().__repr__()[:12]
print(C().f(), C().r(), C.added)
class D(C):
    z = 1
print(D().f())
