# SPDX-License-Identifier: MIT
# super() of objects and classes, what classes refuse, and their special methods.
class A:
    def f(self): return __class__
    @classmethod
    def c(cls): return __class__, super().__init__
    @staticmethod
    def s(): return __class__
    def g(self): return (lambda: __class__)(), [__class__ for _ in range(1)], super().__repr__ is not None
print(A().f(), A.c()[0], A.s(), A().g()[:2])
class Meta(type):
    def __new__(m, n, b, ns):
        print(sorted(k for k in ns if k.startswith('__') and k not in ('__firstlineno__',)))
        return super().__new__(m, n, b, ns)
class Y(metaclass=Meta):
    def f(self): return 1
def outer():
    super()
try: outer()
except RuntimeError as e: print(e)
class Z:
    def f(): super()
try: Z.f()
except RuntimeError as e: print(e)
try: super(int, 3.0)
except TypeError as e: print(e)
try: super(1,2)
except TypeError as e: print(e)
class P:
    x=1
    def m(self): return "P"
class Q(P):
    x=2
    def m(self): return "Q"+super().m()
    @classmethod
    def cm(cls): return super().x
    @property
    def pr(self): return super().m()
    def inner(self):
        def h(): return super(Q, self).m()
        return h(), [super(Q,self).m() for i in range(1)]
q=Q(); print(q.m(), Q.cm(), q.pr, q.inner(), super(Q,q).x, super(Q,Q).m(q), repr(super(Q,q)), super(Q,q).__thisclass__, super(Q,q).__self_class__)
try: super(Q,q).zz
except AttributeError as e: print(e)
try: super(Q,q).x=3
except AttributeError as e: print(e)
class Base:
    def __init__(self, *a, **k): print("Base", a, k)
class L(Base):
    def __init__(self, *a, **k): print("L"); super().__init__(*a, **k)
class R(Base):
    def __init__(self, *a, **k): print("R"); super().__init__(*a, **k)
class D(L,R): pass
D(1,k=2); print([c.__name__ for c in D.__mro__])
try:
    class Bad(Base, L): pass
except TypeError as e: print(e)
try:
    class Dup(Base, Base): pass
except TypeError as e: print(e)
try: Base.nope
except AttributeError as e: print(e)
try: Base().nope
except AttributeError as e: print(e, e.name, type(e.obj).__name__)
try: object(1)
except TypeError as e: print(e)
class E0: pass
try: E0(1)
except TypeError as e: print(e)
try: E0()()
except TypeError as e: print(e)
try: E0()[1]
except TypeError as e: print(e)
try: E0()[1]=2
except TypeError as e: print(e)
try: len(E0())
except TypeError as e: print(e)
try: iter(E0())
except TypeError as e: print(e)
try: next(E0())
except TypeError as e: print(e)
try: E0()<E0()
except TypeError as e: print(e)
try: 1 in E0()
except TypeError as e: print(e)
try: hash([])
except TypeError as e: print(e)
try: {[]:1}
except TypeError as e: print(e)
try: int(E0())
except TypeError as e: print(e)
try: float("x")
except ValueError as e: print(e)
try: int("1.5")
except ValueError as e: print(e)
try: "a"+1
except TypeError as e: print(e)
try: 1+"a"
except TypeError as e: print(e)
try: [1]+(2,)
except TypeError as e: print(e)
try: E0()+1
except TypeError as e: print(e)
try: -E0()
except TypeError as e: print(e)
try: bool(type("B",(),{"__bool__":lambda s:3})())
except TypeError as e: print(e)
try: len(type("B",(),{"__len__":lambda s:-3})())
except ValueError as e: print(e)
try: (1,2,3)[5]
except IndexError as e: print(e)
try: {}["k"]
except KeyError as e: print(e)
try: a,b=1,2,3
except ValueError as e: print(e)
try: a,b=[1]
except ValueError as e: print(e)
try: a,*b,c=[1]
except ValueError as e: print(e)
try: a,b=3
except TypeError as e: print(e)
def fn(a,b,/,c,*,d): pass
for call in ("fn()","fn(1,2,3)","fn(1,2,3,4,d=1)","fn(1,b=2,c=3,d=4)","fn(1,2,c=3,d=4,e=5)","fn(1,2,3,c=4,d=1)","fn(*3)","fn(**3)","fn(1,2,3,d=1,**{'d':2})"):
    try: eval(call)
    except TypeError as e: print(call, e)
class Cnt:
    n=0
    def __getattr__(self, k):
        if k.startswith("_"): raise AttributeError(k)
        return k.upper()
    def __setattr__(self, k, v): super().__setattr__(k, v); Cnt.n+=1
    def __delattr__(self, k): print("del", k); super().__delattr__(k)
    def __dir__(self): return ["z","a"]
    def __format__(self, s): return "F"+s
    def __index__(self): return 2
    def __contains__(self, x): return x==3
    def __getitem__(self, i): 
        if isinstance(i, slice): return (i.start,i.stop,i.step)
        if i>2: raise IndexError
        return i
    def __reversed__(self): return iter("rev")
    def __missing__(self): pass
    def __call__(self, *a, **k): return a,k
    def __matmul__(self, o): return "mm"
    def __rmatmul__(self,o): return "rmm"
    def __divmod__(self,o): return "dm"
    def __round__(self, n=None): return ("r",n)
    def __trunc__(self): return 5
    def __floor__(self): return 6
    def __abs__(self): return 7
    def __complex__(self): return 1j
    def __bytes__(self): return b"B"
    def __length_hint__(self): return 4
    def __pow__(self, o, m=None): return ("pow",o,m)
    def __lshift__(self,o): return "ls"
    def __ior__(self,o): return "ior"
    def __hash__(self): return 77
    def __eq__(self,o): return "eqq"
c=Cnt(); c.q=1; del c.q; print(c.foo, dir(c), f"{c:>3}", [10,20,30][c], 3 in c, c[1:2], list(c), list(reversed(c)), c(1,x=2), c@1, 1@c, divmod(c,1), round(c), round(c,1), int.__index__(3), abs(c), complex(c), bytes(c), c**2, pow(c,2,3), c<<1, hash(c), c==1, c!=1, Cnt.n, hex(c), range(5)[c], "ab"*c, bin(c))
import math; print(math.floor(c), math.trunc(c))
c|=1; print(c)
try: Cnt()._x
except AttributeError as e: print(e)
class Tmp:
    def __enter__(self): return self
    def __exit__(self, t, v, tb): print(t, v, tb is not None); return True
with Tmp(): raise ValueError(3)
print(isinstance(True,int), issubclass(bool,int), type(type), type(object), object.__class__, int.__mro__, type.__mro__, bool.__bases__, object.__bases__, type(1).__name__, type(A.f), type(A().f), type(len), type([].append), type(None), type(...), type(NotImplemented), type(print))
