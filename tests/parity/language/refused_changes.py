# SPDX-License-Identifier: MIT
# What changes no value, is counted, or is written with a precision.
from collections import ChainMap, Counter, namedtuple

Pair = namedtuple("Pair", "x y")
p = Pair(1, 2)
items, table = [], {}


def f(): pass


class C:
    kept = 1


class Odd:
    def __int__(self): return None
    __str__ = __repr__ = __bool__ = __float__ = __index__ = __int__


def attempt(text):
    try:
        exec(text, globals())
        print(text, "- fine")
    except Exception as e:
        print(text, "-", type(e).__name__, e)


for text in """del p.x
p.x = 3
p[0] = 1
del items.x
del table.x
del (5).x
del f.zz
f.a = 1; del f.a; f.a
del C.x
del C.kept; C.kept
del C().z
len.x = 1
int.x = 1
C(1)
C().__init__(42)
repr(Odd())
str(Odd())
bool(Odd())
int(Odd())
[][Odd()]
'%b' % 3
'%y' % 3
format(5, ',_')
format(5, ',,')
format(5, '.')
format(1j, '=9')
format(1j, '09')
format(1j, 'd')""".split("\n"):
    attempt(text)

print("%.3d|%8.3d|%-8.3d|%+.3d|%.3x|%#.4x|%08.3d|%.0d" % (5, 5, 5, 5, 10, 10, 5, -7))
print(format(1 + 2j, ".2f"), format(1j, ">12"), f"{3.5 - 2j:.1e}", format(1 + 2j, "g"), f"{2j:<6}|", f"{1-1j:^+14.3f}|")
a, b = Counter(a=3, b=1), Counter(a=1, b=2)
print(a <= b, a >= b, a < b, a > Counter(a=1), a == Counter(a=3, b=1, c=0), +Counter(x=0, y=1), -Counter(x=-2, y=1))
same = a
a += b
print(a, a is same)
a -= Counter(b=5)
print(a, same)
a |= b
a &= Counter(a=2, b=9)
print(a, same, a | {"z": 1})
chain = ChainMap({"a": 1}, {"b": 2})
print(chain.popitem(), chain, ChainMap({"a": 1}) | {"z": 2}, {"z": 1} | ChainMap({"a": 1}))
chain |= {"c": 3}
copied = chain.copy()
copied["d"] = 4
print(chain, copied, ChainMap.fromkeys("ab", 0))


class Base:
    def __init__(self, x, **kwargs):
        super().__init__(**kwargs)
        self.x = x


try:
    Base(1, y=2)
except TypeError as e:
    print(e)
print(Base(1).x)
for text in ("f'{}'", "f'{a!}'", "f'}'", "f'{1!x}'", "f'{1#}'", "f'{1 2}'", "1 2"):
    try:
        print(eval(text))
    except SyntaxError:
        print(text, "is no Python")
print(f"{'''it's'''}", f'{"a" """b"s""" "c"}', f"""{
    1 + 2}""")
try:
    exec("def g(x):\n    return (1,\n")
except SyntaxError as e:
    print(e.lineno, e.offset, e.msg)
