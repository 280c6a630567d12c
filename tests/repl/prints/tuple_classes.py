# SPDX-License-Identifier: MIT
# Classes below named tuples; properties made by a call; another __class__.
from collections import namedtuple
from typing import NamedTuple


class Pair(namedtuple("Pair", ["a", "b"], defaults=(None,))):
    def __new__(cls, a, b=None):
        return super().__new__(cls, a, b)

    @property
    def twice(self):
        return self.a * 2

    @classmethod
    def of(cls, x):
        return cls(x, x)


p = Pair(3)
print(p, p.twice, isinstance(p, tuple), p[0], len(p), p == (3, None))
print(p._replace(a=5).a, p._asdict(), p._fields, Pair.of(4))
a, b = p
print(a, b)
P = namedtuple("P", ["a", "b"])


class Q(P):
    def total(self):
        return self.a + self.b


class S(Q):
    def __new__(cls, a):
        return P.__new__(cls, a, a)

    def total(self):
        return super().total() * 10


s = S(1)
print(Q(3, 4), Q(3, 4).total(), s, s.total(), isinstance(s, P), isinstance(Q(1, 2), S))


class R(NamedTuple):
    x: int

    def f(self):
        return self.x


print(R(2), R(2).f(), [c.__name__ for c in R.__mro__])


class One:
    def name(self):
        return "one"


class Two:
    def name(self):
        return "two"


x = One()
x.kept = 5
x.__class__ = Two
print(x.name(), x.kept, type(x).__name__, isinstance(x, One))
setattr(Two, "five", property(lambda self: 5, lambda self, v: print("set", v)))
print(x.five)
x.five = 7
print(isinstance(Two.five, property), Two.five.fget(x))
for bad in (3, int):
    try:
        x.__class__ = bad
    except TypeError as e:
        print(e)
