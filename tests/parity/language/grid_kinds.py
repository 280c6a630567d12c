# SPDX-License-Identifier: MIT
# Ranges beyond 64 bits, flags and enums at zero, equality of each kind of pair.
import collections
import enum
import itertools
from lib.answers import answer

BIG = 2**70
for a, b, c in itertools.product((BIG, -BIG, 2**63 - 1), (BIG, BIG + 2, 2**63 + 1, -BIG + 2), (1, 2, -1, BIG)):
    if c < BIG and abs(b - a) > 2**63:
        continue
    r = range(a, b, c)
    few = (b - a) // c < 10
    print(r, bool(r), *(answer(f) for f in (lambda: few and len(r), lambda: few and list(r), lambda: few and list(reversed(r)), lambda: a in r, lambda: b in r, lambda: b - 1 in r, lambda: r[0], lambda: r[-1], lambda: r[1:3], lambda: r[::-1] == r, lambda: r.index(a), lambda: r.count(b - c))))


class Color(enum.Enum):
    RED = 1
    GREEN = enum.auto()
    SAME = 1
    NEXT = enum.auto()


class Bits(enum.Flag):
    NONE = 0
    A = enum.auto()
    B = enum.auto()
    AB = A | B
    D = 8
    E = enum.auto()


class Numbers(enum.IntFlag):
    ZERO = 0
    X = 1
    Y = 4
    Z = enum.auto()


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 10
    MORE = enum.auto()


class Late(enum.Flag):
    ZERO = 0
    FIRST = enum.auto()


print([(m.name, m.value) for k in (Color, Bits, Numbers, Level, Late) for m in k], [(k.__name__, list(k.__members__)) for k in (Color, Bits, Numbers, Level, Late)])
for a, b in itertools.product(list(Bits) + [Bits.NONE, Bits.AB], repeat=2):
    print(a, b, a | b, a & b, a ^ b, ~a, a in b, bool(a), (a | b).value, (a & b).name, a == b, answer(lambda: a < b), hash(a) == hash(b))
for a, b in itertools.product(list(Numbers) + [0, 1, 5, 16], repeat=2):
    print(repr(a), repr(b), answer(lambda: a | b), answer(lambda: a & b), answer(lambda: a ^ b), answer(lambda: a + b), answer(lambda: a == b), answer(lambda: a <= b))
for v in (0, 1, 2, 3, 4, 7, 8, 9, 16, 31, "A", None, Bits.A, 10, 11):
    print(v, [answer(lambda: k(v)) for k in (Color, Bits, Numbers, Level, Late)], answer(lambda: Color[v]), v in (1, 4))
print(Level.LOW < Level.HIGH, Level.HIGH + 1, max(Level), sorted(Level, reverse=True), answer(lambda: Color.RED < Color.GREEN), Color.SAME is Color.RED, len(Bits), Color(1).name, f"{Level.HIGH} {Color.RED!r} {Bits.AB!r} {Level.HIGH:>4}", [m for m in reversed(Color)])


class Same:
    def __init__(self, v): self.v = v
    def __eq__(self, other): return self.v == getattr(other, "v", other)
    def __hash__(self): return hash(self.v)


class Refuses:
    def __eq__(self, other): return NotImplemented
    __hash__ = object.__hash__


class Child(int): pass


class Words(str): pass


class Rows(list): pass


Point = collections.namedtuple("Point", "x y")
one = object()
values = [0, 1, -1, 1.0, 0.0, -0.0, True, False, None, "", "1", "a", b"a", b"", bytearray(b"a"), 1j, 1 + 0j, 0j,
          [], [1], [1.0], [True], (), (1,), Point(1, 2), (1, 2), [1, 2], {}, {1: 2}, {1.0: 2}, {2: 1, 1: 2}, {1: 2, 2: 1}, set(), {1}, frozenset((1,)), {1: 2}.keys(),
          collections.OrderedDict([(1, 2), (2, 1)]), collections.OrderedDict([(2, 1), (1, 2)]), collections.Counter("a"), {"a": 1}, collections.deque([1]),
          range(0), range(1, 2), Same(1), Same("a"), Refuses(), Child(1), Words("a"), Rows([1]), one, int, str, len, Level.LOW, Color.RED, ..., NotImplemented, BIG, float(BIG), BIG + 1, [BIG], [one]]
for i, a in enumerate(values):
    print(i, "".join("1" if a == b else "0" for b in values), "".join("1" if a != b else "0" for b in values), "".join("-" if isinstance(x, str) else str(int(x)) for x in (answer(lambda: a < b) for b in values if type(b).__name__ not in ("Counter",))))
print([[a in c for a in (1, 1.0, True, "1", None, float("nan"))] for c in ([1], (1.0,), {True}, {1: 0}, "1" and ["1"], [None], collections.deque([1]))])


class Shrinks:
    def __eq__(self, other):
        left.clear()
        return True


left = [Shrinks(), 1, 2]
print(left == [Shrinks(), 1, 2], left)
