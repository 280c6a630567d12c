# SPDX-License-Identifier: MIT
# What errors, classes and modules say of themselves, and what a test runner
# lets pass: facts that a program reads.
import abc
import enum
import io
import logging
import math
import pickle
import copy
import unittest
import warnings
from typing import NamedTuple

for given in (("bad",), ("bad", ("d/f.py", 3, 4, "x = (\n")), (), ("a", "b", "c"),
              ("a", "b"), ("a", range(7))):
    try:
        raise SyntaxError(*given)
    except SyntaxError as e:
        print(e.msg, e.args, e.lineno, e.offset, e.filename, e.end_lineno, e)
    except TypeError as e:
        print(e)
try:
    compile("x = (1,\ny = 2", "<s>", "exec")
except SyntaxError as e:
    print(e.msg, e.args[0], e.args[1][:3], e.text)


class Base(abc.ABC):
    @abc.abstractmethod
    def f(self): ...


class Meta(metaclass=abc.ABCMeta):
    pass


print(Base.__mro__, Base.__bases__, type(Base), isinstance(Meta, abc.ABCMeta))
print(abc.ABC.__mro__, isinstance(int, abc.ABCMeta), issubclass(Base, abc.ABC))


class Kind(enum.Enum):
    X = 1


for name in ("Y", "__nope__"):
    try:
        getattr(Kind, name)
    except AttributeError as e:
        print(e)


class Point(NamedTuple):
    "A point."
    x: int


class Bare(NamedTuple):
    x: int


print(Point.__doc__, Bare.__doc__, Point(1).__doc__)
print(range(10 ** 20)[-1], range(10 ** 20)[5], range(2 ** 70, 2 ** 70 + 3)[1])
try:
    range(10 ** 20)[10 ** 20]
except IndexError as e:
    print(e)
print(vars(math)["pi"], "sqrt" in vars(math), math.comb(60, 30), math.comb(70, 35),
      math.perm(30, 20), [math.isqrt(n) for n in (0, 1, 3, 4, 2 ** 52 - 1, 2 ** 60)])


class Kept:
    def __reduce_ex__(self, protocol):
        return super().__reduce_ex__(protocol)


k = Kept()
k.z = [1]
print(copy.copy(k).z, pickle.loads(pickle.dumps(k)).z)


class Words(unittest.TestCase):
    def told(self, f, *args):
        try:
            f(*args)
        except AssertionError as e:
            print(str(e).replace("\n", "|"))

    def test_words(self):
        self.told(self.assertRaises, KeyError, int)
        self.told(self.assertEqual, {1}, {2})
        self.told(self.assertWarns, DeprecationWarning, warnings.warn, "u")
        with self.assertWarns(UserWarning) as scope:
            warnings.warn("w")
        print(str(scope.warning))
        with self.assertLogs("a.b", level="INFO") as seen:
            logging.getLogger("a.b").info("hello %d", 3)
            logging.getLogger("a.b").debug("no")
        print(seen.output, len(seen.records))
        with self.assertNoLogs("a.b"):
            pass
        try:
            with self.assertLogs("a.b"):
                pass
        except AssertionError as e:
            print(e)

    def test_other(self):
        self.addTypeEqualityFunc(int, lambda a, b, msg=None: print("ints", a, b))
        self.assertEqual(1, 2)
        self.fail("on purpose")


out = io.StringIO()
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Words)
result = unittest.TextTestRunner(stream=out, verbosity=2).run(suite)
print(out.getvalue().splitlines()[:2], result.testsRun, len(result.failures),
      type(result.failures[0][1]), result.failures[0][0])
