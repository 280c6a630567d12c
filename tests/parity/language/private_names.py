# SPDX-License-Identifier: MIT
# Private names of classes: __x in the body of C is _C__x.
def f(**k): return k
__free = 'free'
class A:
    __n = 1
    def __init__(self): self.__v = 'A'
    def m(self, __p=1, *, __q=2): return f(__x=1), __p, f"{__p} {self.__v!r}", self.__n
    def __pm(self): return 'A.pm'
    def call(self): return self.__pm()
    class __In:
        __z = 3
        def g(self): return self.__z
    def inner(self): return A.__In().g(), self.__class__.__name__, __name__
    def free(self):
        try: return __free
        except NameError as e: return str(e)
    def dele(self):
        del self.__v
        return hasattr(self, '_A__v')
class B(A):
    __n = 2
    def __init__(self):
        super().__init__(); self.__v = 'B'
    def __pm(self): return 'B.pm'
    def both(self): return self._A__v, self.__v, self.call(), self.__pm(), self.m()
b = B(); print(b.both()); print(sorted(vars(b).items())); print(b.inner(), b.free(), b.dele(), b.__dict__)
try: b.__v
except AttributeError as e: print(e)
class _C:
    __x = 5
    def get(self): return self.__x, [self.__x for _ in range(1)], (lambda: self.__x)(), {'k': self.__x}
print(_C().get(), _C._C__x)
class S:
    __slots__ = ('__p', 'q')
    def __init__(self): self.__p = 1
    def g(self): return self.__p
print(S().g(), S()._S__p)
class G:
    def set(self):
        global __glob
        __glob = 4
        import math as __m
        return __m.floor(2.5)
print(G().set(), _G__glob)
print(sorted(k for k in vars(A) if 'A_' in k), A.m.__kwdefaults__)
import dataclasses
@dataclasses.dataclass
class D:
    __h: int = 3
    def h(self): return self.__h
print(D(), D(4).h())
