# SPDX-License-Identifier: MIT
class A:
    def who(self): return "A"
    def chain(self): return ["A"]
class B(A):
    def who(self): return "B" + super().who()
    def chain(self): return ["B"] + super().chain()
class C(A):
    def who(self): return "C" + super().who()
    def chain(self): return ["C"] + super().chain()
class D(B, C):
    def who(self): return "D" + super().who()
    def chain(self): return ["D"] + super().chain()
print(D().who(), D().chain(), [c.__name__ for c in D.__mro__], D.mro()[0].__name__)
class Mixin:
    def __init__(self, **kw):
        super().__init__(**kw)
        self.mixed = True
class Root:
    def __init__(self, n=0): self.n = n
class E(Mixin, Root): pass
e = E(n=4)
print(e.mixed, e.n, isinstance(e, Root), isinstance(e, Mixin))
print(E.__bases__[0].__name__, E.__name__, E.__qualname__, e.__class__.__name__, type(e) is E, type(e).__name__)
print(issubclass(E, Mixin), issubclass(E, Root), issubclass(D, C), issubclass(A, D), isinstance(D(), C))
try:
    class F(A, B): pass
except TypeError as x: print(x)
super_fn = super(B, D()).who
print(super_fn())
print(A.who(D()), B.who(D()))
print(hasattr(D, "who"), D.who.__name__, D().who.__name__, callable(D().who))
