# SPDX-License-Identifier: MIT
class Base:
    count = 0
    def __init__(self, x, *args, scale=1, **kw):
        self.x = x; self.args = args; self.kw = kw; self.scale = scale
        Base.count += 1
    def area(self): return self.x * self.scale
    @property
    def double(self): return self.x * 2
    @double.setter
    def double(self, v): self.x = v // 2
    @staticmethod
    def make(v): return Base(v)
    @classmethod
    def of(cls, v): return cls(v)
    def __repr__(self): return f"{type(self).__name__}({self.x})"
    def __eq__(self, o): return isinstance(o, Base) and self.x == o.x
    def __add__(self, o): return Base(self.x + (o.x if isinstance(o, Base) else o))
    def __radd__(self, o): return Base(o + self.x)
    def __len__(self): return self.x
    def __getitem__(self, i): return i * self.x
    def __call__(self, *a): return sum(a) + self.x
    def __lt__(self, o): return self.x < o.x
    def __contains__(self, v): return v == self.x
    def __iter__(self): return iter(range(self.x))
    def __bool__(self): return self.x > 0
    def __neg__(self): return Base(-self.x)
    def __hash__(self): return hash(self.x)
class Sub(Base):
    def __init__(self, x):
        super().__init__(x, 1, 2, k=3)
        self.extra = "e"
    def area(self): return super().area() + 1
a, b = Base(3), Sub(4)
print(a, b, a == Base(3), a + b, a + 1, 1 + a, len(a), a[2], a(1, 2), a < b, 3 in a, list(a), bool(Base(0)), -a, sorted([b, a]), a.double, b.area(), b.args, b.kw, b.extra, Base.count)
a.double = 10; print(a.x, Base.make(7), Sub.of(2), isinstance(b, Base), isinstance(b, (int, Sub)), issubclass(Sub, Base), type(b).__name__, Sub.__name__, hasattr(b, "x"), getattr(b, "nope", 1), b.__class__ is Sub, type(b) is Sub, type(a) == Base)
setattr(b, "z", 9); print(b.z, vars(a)["x"], callable(a), callable(3), [m for m in dir(b) if m == "area"], {a: 1}[a], a is a, a is not b)
class Err(ValueError):
    def __init__(self, msg, code=0):
        super().__init__(msg); self.code = code
try:
    raise Err("bad", code=4)
except ValueError as e: print(type(e).__name__, e, e.code, e.args, isinstance(e, Exception))
class A: pass
class B(A):
    y: int = 3
    def who(self): return "B"
class C(A):
    def who(self): return "C"
class D(B, C): pass
print(D().who(), B.y, D().y, A.__name__)
from abc import ABC, abstractmethod
class I(ABC):
    @abstractmethod
    def f(self): ...
class J(I):
    def f(self): return 1
print(J().f())
