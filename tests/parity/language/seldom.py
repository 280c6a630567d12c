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
for v in ("a", 1, 1.0, [1], (1,), {}, set(), b"", 1j, frozenset()):
    print(type(v.__doc__).__name__, v.__doc__ == type(v).__doc__, end=" ")
print()


def waits(tag):
    try:
        yield 1
        yield 2
    finally:
        print("finally", tag)


import gc
import functools
import warnings
import inspect
import shlex
import struct

f = waits("del")
next(f)
del f
print("behind del")


def leave():
    next(waits("call"))


leave()
gc.collect()
print("behind collect")
g = waits("throw")
next(g)
try:
    g.throw(KeyError, "k")
except KeyError as e:
    print(repr(e), g.gi_frame is None)
kept = waits("end")
next(kept)

with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    warnings.warn("old", DeprecationWarning)
    warnings.warn("plain")
    print([(w.category.__name__, str(w.message)) for w in heard])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message="fine", category=UserWarning)
    warnings.warn("fine, this one")
    try:
        warnings.warn("not this", FutureWarning)
    except FutureWarning as e:
        print("raised", e)
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("default")
    for _ in range(3):
        warnings.warn("same line")
    print(len(heard))


class Counted:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.n = f, 0

    def __call__(self, *args):
        self.n += 1
        return self.f(*args)


@Counted
def double(x):
    "Twice x."
    return 2 * x


print(double(2), double.n, double.__name__, double.__doc__, double.__wrapped__(4))
print(inspect.signature(double.__wrapped__).parameters["x"].kind, inspect.Parameter.KEYWORD_ONLY.description)


class Above:
    pass


class Below1(Above):
    pass


class Below2(Above):
    pass


print(Above.__subclasses__(), Below1.__subclasses__())
print(shlex.split("a 'b c' --d=\"e \\\"f\" g\\ h"), shlex.quote("a'b"), shlex.join(["a", "b c"]))
buffer = bytearray(4)
struct.pack_into("<H", buffer, 1, 0x1234)
print(buffer)
print(os.path.normpath("a/../b/./c//d"), os.path.isabs("/x"), os.path.commonpath(["/a/b/c", "/a/b/d"]),
      os.path.commonprefix(["abc", "abd"]), os.path.relpath("a/b", "a/c"))
