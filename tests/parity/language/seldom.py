# SPDX-License-Identifier: MIT
# What was once wrong without a word, or did not end.
import re
import os.path
from typing import Protocol, runtime_checkable

print(b"%5c|%-3c|%c" % (65, b"z", 7), b"%5s|%-4s|" % (b"a", b"b"))


class Named:
    @classmethod
    @property
    def name(cls):
        return cls.__name__

    @classmethod
    @staticmethod
    def plain(x=1):
        return x


print(Named.name, Named().name, Named.plain(3))


class Once:
    n = 0

    def __iter__(self):
        return self

    def __next__(self):
        Once.n += 1
        if Once.n > 3:
            raise StopIteration
        del Once.__next__
        return 1


try:
    for i in Once():
        print(i)
except TypeError as e:
    print(e)

print(bin(-(1 << 63)), hex(-(1 << 63)), oct(-(1 << 63)), f"{-(1 << 63):,}", bin(-(1 << 62)))
for c in "\x1c\x1f \x85\xa0\u3000a\u200b":
    print(bool(re.match(r"[\S.]", c)), bool(re.match(r"[^\S.]", c)), bool(re.match(r"\S", c)), end=" ")
print()
for text, args in [("{}{1}", (1, 2)), ("{0}{}", (1, 2)), ("{", ()), ("}", ()), ("{0", (1,)), ("{2}", (1,)),
                   ("{0!x}", (1,)), ("{0!}", (1,)), ("{0.}", (1,)), ("{0[}", ([1],)), ("{0[0]x}", ([1],)),
                   ("{:{:{}}}", (1, 2, 3)), ("{!r}", ("a",)), ("{0!rx}", (1,)), ("{0[a:b]}", ({"a:b": 7},)),
                   ("{:{}}|{}", (1, 5, 2)), ("{0:{1}}", (1, 4)), ("{{}}", ()), ("{:}}", (1,))]:
    try:
        print(repr(text.format(*args)))
    except (ValueError, IndexError, KeyError) as e:
        print(type(e).__name__, e)
try:
    "{a}".format(b=1)
except KeyError as e:
    print(repr(e), e.args)
print(os.path.__name__)


@runtime_checkable
class Runs(Protocol):
    def run(self): ...


class Runner:
    def run(self): pass


print(issubclass(Runner, Runs), issubclass(int, Runs), isinstance(Runner(), Runs))
for text in ("def f(a=1, b): pass", "nonlocal x", "lambda a=1, b: 0", "def f(a=1, *, b): pass", "def f(*a, b=1, c): pass"):
    try:
        exec(text)
        print("fine")
    except SyntaxError as e:
        print(type(e).__name__)
