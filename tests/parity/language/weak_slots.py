# SPDX-License-Identifier: MIT
# Which objects of classes with slots a weak reference may be made to.
import weakref
class A:
    __slots__ = ("x",)
class B(A):
    __slots__ = ("y", "__weakref__")
class C(A): pass
class D: pass
for k in (A, B, C, D):
    o = k()
    try:
        r = weakref.ref(o)
        print(k.__name__, r() is o, o.__weakref__ is r)
    except TypeError as e: print("TypeError", e)
    try: print(k().__weakref__)
    except AttributeError as e: print("AttributeError", e)
print(weakref.getweakrefcount(o), weakref.getweakrefs(o) == [r])
r2 = weakref.ref(o, lambda x: None)
print(o.__weakref__ is r, weakref.getweakrefcount(o))
class E(Exception): pass
e = E(); print(weakref.ref(e)() is e)
class L(list): pass
l = L(); print(weakref.ref(l)() is l)
import enum
class F(enum.Enum): a = 1
print(weakref.ref(F.a)() is F.a, weakref.ref(F)() is F)
from dataclasses import dataclass
@dataclass(slots=True, weakref_slot=True)
class G: a: int
g = G(1); print(weakref.ref(g) is g.__weakref__, G.__slots__)
@dataclass(slots=True)
class H: a: int
try: weakref.ref(H(1))
except TypeError as e: print(e)
