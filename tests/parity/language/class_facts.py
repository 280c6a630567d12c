# What classes, fields and named tuples say of themselves, and what a text that
# is run in a dict of names may see.
import sys
from collections import namedtuple
from dataclasses import (dataclass, field, fields, make_dataclass, replace,
                         InitVar, KW_ONLY, FrozenInstanceError)
from typing import ClassVar


def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


class A:
    """text"""
    x: int = 3

    class B:
        pass


def make():
    class C:
        pass
    return C


print(A.B, make(), A.B.__qualname__, A.__qualname__, repr(A.B())[:18])
print("__annotations__" in A.__dict__, A.__dict__["x"], A.__eq__ is object.__eq__)
A.B.__qualname__ = "Q"
print(A.B, A.B.__name__)
print([].__class__.__hash__, dict.__hash__, {}.__hash__, int.__module__)


class Point(namedtuple("Base", "x y", defaults=[7])):
    __slots__ = ()

    def total(self):
        return self.x + self.y


class Far(Point):
    def __new__(cls, x):
        return super().__new__(cls, x * 10)


print(Point(1), Point(1, y=2).total(), Point(1)._replace(y=5), Far(2))
print(isinstance(Far(2), Point), Point._make([3, 4]), Point(1)._asdict())
t(lambda: Point())


class Index:
    def __class_getitem__(cls, i):
        return cls.__name__, i


print(Index[3], Index[1, 2])


class Static:
    @staticmethod
    def __call__(x):
        return x + 1

    @classmethod
    def __enter__(cls):
        return cls

    def __exit__(self, *args):
        pass


print(Static()(2))
with Static() as s:
    print(s)

names = {"q": 5}
exec("def g(x=q): return x + q\nr = g(2)", names)
print(names["r"], names["g"]())
t(lambda: eval("A", {}))
inner = {}
exec("y = q + 1", names, inner)
print(inner, "y" in names, sys.modules["__main__"].__dict__["A"] is A)
New = type("New", (A,), {"z": 1, "f": lambda self: self.z})
print(New.__dict__["z"], New().f(), New.__mro__)


@dataclass
class D:
    a: int
    b: ClassVar[int] = field(default=4)
    c: list = field(default_factory=list, compare=False)
    _: KW_ONLY
    d: InitVar[int] = 9
    e: "str" = field(default="e", repr=False)

    def __post_init__(self, d):
        self.sum = self.a + d


print(D(1), D(1).sum, D(1) == D(1, [2]), D.b, D.__doc__)
print([(f.name, f.type, f.kw_only) for f in fields(D)])
t(lambda: D(1, [], 3))
t(lambda: D())
t(lambda: D(1, q=2))
t(lambda: replace(D(1), a=2))
t(lambda: replace(D(1), a=2, d=1).sum)


class Unhashable:
    __hash__ = None


def bad():
    @dataclass
    class E:
        x: object = Unhashable()


t(bad)


@dataclass(frozen=True, order=True)
class F:
    x: int = 0
    y: int = field(default=1, hash=False)


class G(F):
    pass


def assign():
    F().x = 1


t(assign)
g = G(3)
g.own = 1
print(g, g.own, hash(F(1, 2)) == hash(F(1, 3)), F(1) < F(2))
t(lambda: F() < 1)


@dataclass(slots=True)
class S:
    x: int = 1


def more():
    S().y = 2


t(more)
print(S(2), S.__slots__)
M = make_dataclass("M", ["p", ("q", int, field(default=2))], namespace={"w": 1})
print(M(1), M.w)
t(lambda: make_dataclass("M", ["class"]))
t(lambda: (lambda: [a for a, b in [Unhashable()]])())
