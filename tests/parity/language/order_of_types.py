# Orders of types of data, named tuples and classes below them, and what is
# below what.
import collections
import enum
from typing import NamedTuple, TypedDict
from collections import namedtuple
import functools
class Row(NamedTuple):
    a: int
    b: str = "x"
    def up(self): return self.b.upper()
P = namedtuple("P", "x y", module="other")
Q = namedtuple("Q", "x")
class M(TypedDict):
    a: int
def f():
    class In(NamedTuple):
        z: int = 0
    return In
print(Row, P, Q, Row.__module__, P.__module__, f(), f()(), f().__qualname__, M, M.__module__, type(Row(1)), Row.__mro__, Q.__mro__, Q.__bases__, issubclass(Row, tuple), Row(1).up())
class S(Q):
    pass
print(S, S.__mro__, S(3), type(S(3)))
@functools.singledispatch
def g(x): return "object"
@g.register
def _(x: tuple): return "tuple"
print(g(Row(1)), g(Q(1)), g(S(1)), g((1,)), g([]))
T = [int, bool, float, str, bytes, bytearray, list, tuple, dict, set, frozenset, object, type, range, complex, Exception, ValueError, collections.OrderedDict, collections.Counter, collections.defaultdict, collections.deque, Row, Q, S, enum.Enum, enum.IntEnum, property, slice, type(None)]
for a in T:
    print(a.__name__, [b.__name__ for b in T if issubclass(a, b)], [b.__name__ for b in a.__mro__], [b.__name__ for b in a.__bases__], a.__base__.__name__ if a.__base__ else None)
V = [1, True, 1.5, "s", b"", bytearray(), [], (), {}, set(), frozenset(), object(), int, range(1), 2j, ValueError(), collections.OrderedDict(), collections.Counter(), collections.defaultdict(), collections.deque(), Row(1), Q(1), S(1), slice(1), None, len, lambda: 0]
for v in V:
    print(type(v).__name__, [b.__name__ for b in T if isinstance(v, b)], v.__class__.__name__)
