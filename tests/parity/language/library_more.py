# SPDX-License-Identifier: MIT
# array, re.Scanner, types.ModuleType, logging.config and logging.handlers,
# class methods without a word.
import array
import io
import logging
import logging.config
import logging.handlers
import re
import sys
import types
from typing import Generic, TypeVar

T = TypeVar("T")


def fails(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


a = array.array("f", [1.5, 2.5])
a.append(3)
a.extend(array.array("f", [0.1]))
print(a, a.itemsize, a.tobytes().hex(), a[1:], a[-1], len(a), 2.5 in a)
b = array.array("i", range(3))
b[1] = 7
b += array.array("i", [9])
print(b, b.tolist(), b * 2, b == array.array("i", [0, 7, 2, 9]), b.pop(), array.array("B", b"ab"))
fails(lambda: array.array("b", [200]))
fails(lambda: array.array("B", [-1]))
fails(lambda: array.array("x"))
fails(lambda: array.array("i", [1.5]))
fails(lambda: b[10])
fails(lambda: b + array.array("f", [1]))

scanner = re.Scanner([(r"\d+", lambda s, t: ("INT", int(t))),
                      (r"[a-z]+", lambda s, t: (t, s.match.span())), (r"\s+", None)])
print(scanner.scan("ab 12 c ?x"))

m = types.ModuleType("plug", "doc")
exec("def hi(n):\n    return f'hi {n} {X}'\nX = 3", m.__dict__)
sys.modules["plug"] = m
import plug
from plug import X
print(plug.hi("x"), X, plug.__name__, plug.__doc__, type(plug) is types.ModuleType)
fails(lambda: types.ModuleType())


class C:
    def __class_getitem__(cls, k):
        return cls.__name__, k


class D(C):
    def __class_getitem__(cls, k):
        return super().__class_getitem__(k)


class Box(Generic[T]):
    def __class_getitem__(cls, k):
        return super().__class_getitem__((k,))


print(D[3], D.__class_getitem__(4), Box[int], Box[int]().__class__)
fails(lambda: type("Both", (int, str), {}))

logging.config.dictConfig({
    "version": 1, "disable_existing_loggers": False,
    "formatters": {"f": {"format": "{levelname}:{message}", "style": "{"}},
    "filters": {"only": {"name": "x"}},
    "handlers": {"c": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout",
                       "formatter": "f", "filters": ["only"], "level": "INFO"}},
    "loggers": {"x": {"level": "DEBUG", "handlers": ["c"], "propagate": False}},
    "root": {"level": "ERROR", "handlers": ["c"]}})
logging.getLogger("x").info("seen %d", 1)
logging.getLogger("x").debug("below the handler")
logging.getLogger("y").error("not x")
fails(lambda: logging.config.dictConfig({}))
out = logging.StreamHandler(sys.stdout)
out.setFormatter(logging.Formatter("$name|$message", style="$"))
z = logging.getLogger("z")
z.propagate = False
z.addHandler(logging.handlers.MemoryHandler(10, logging.ERROR, out))
z.setLevel(10)
z.info("kept")
print("before")
z.error("now")
sys.stderr, before = io.StringIO(), sys.stderr      # a wrong message ends nothing
logging.getLogger("x").info("%d", "no number")
text, sys.stderr = sys.stderr.getvalue(), before
print(text.splitlines()[0], text.splitlines()[-2:])
