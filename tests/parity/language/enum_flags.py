# SPDX-License-Identifier: MIT
# Flags with bits of no member, names bound twice, bases of enumerations; counters; what type says of a class.
from enum import *
class E(Enum):
    first = auto()
    second = auto()
    dupe = 2
print(dir(E.first))
class I(IntEnum):
    a = 1
class NI(int):
    def __new__(cls, n, v): self = int.__new__(cls, v); self.nm = n; return self
class NEI(NI, Enum):
    x = ('the-x', 1)
    y = ('the-y', 2)
print(NEI.__new__ is Enum.__new__, NEI.x.nm, NEI.x + 1, NEI(1) if 0 else '', NEI.y.value)
class F(Flag):
    A = 1; B = 2; BIG = 389
print(F._boundary_, IntFlag._boundary_, Flag._boundary_, F(391), F.BIG | F.B, ~F.A, list(F), list(F.BIG), F._flag_mask_, F._all_bits_, F._singles_mask_)
for v in (8, 512, -600):
    try: print(F(v))
    except ValueError as e: print(e)
P = Flag('Perm', 'R W X', start=8); print(list(P), P.R.value)
P = Enum('Th', 'a b', qualname='qq', module='mm'); print(P.__qualname__, P.__module__, list(P))
for src in ("class D(Enum):\n A=1\n A=2", "class D(Enum, int): A=1", "class D(StrEnum):\n A=1", "class D(StrEnum):\n A=b\"x\",\"ascii\",9"):
    try: exec(src); print("ok")
    except Exception as e: print(type(e).__name__, e)
from enum import Enum, IntEnum
class HexInt(int):
    def __repr__(self): return hex(self)
class MyEnum(HexInt, Enum):
    A = 1; B = 2
print(repr(MyEnum.A), MyEnum.A, MyEnum.B + 1, type(MyEnum.A.value).__name__)
class Named(int):
    @property
    def __name__(self): return 'mine'
print(Named.__name__, Named(3).__name__)
class V:
    x = 1; vars()['y'] = 2
print(V.y, vars(V)['x'])
from collections import Counter, namedtuple
c = Counter('aab'); del c['z']; c.update({'a': 2}); c.subtract('b'); print(c)
for f in (lambda: Counter().update({}, {}), lambda: Counter().subtract({}, {}), lambda: namedtuple('A', 'x', True)):
    try: f(); print('no')
    except TypeError as e: print('TypeError')
d = Counter(); d.update(iterable=None); print(d)
nan = float('nan'); print(nan is nan, nan in [nan], [nan].index(nan))
class Strange(Flag, boundary='none'):
    A = 1
try: print(Strange(3))
except ValueError as e: print(e)
