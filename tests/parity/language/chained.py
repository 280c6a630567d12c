# How errors stand behind each other, and what a block leaves of them.
def show(e):
    print(repr(e), "cause", repr(e.__cause__), "context", repr(e.__context__),
          e.__suppress_context__)
try:
    try:
        1 / 0
    except ZeroDivisionError:
        {}[1]
except KeyError as e:
    show(e)
try:
    try:
        1 / 0
    except ZeroDivisionError as z:
        raise ValueError("v") from z
except ValueError as e:
    show(e)
try:
    try:
        1 / 0
    except ZeroDivisionError:
        raise ValueError("v") from None
except ValueError as e:
    show(e)
try:
    try:
        raise ValueError("first")
    finally:
        raise TypeError("in finally")
except TypeError as e:
    show(e)
kept = ValueError("made outside")
try:
    1 / 0
except ZeroDivisionError:
    made = ValueError("made inside")
show(made)
try:
    raise made
except ValueError as e:
    show(e)
class Scope:
    def __enter__(self): return self
    def __exit__(self, kind, value, trace):
        raise RuntimeError("leaving")
try:
    with Scope():
        raise KeyError("body")
except RuntimeError as e:
    show(e)
try:
    raise ValueError from 3
except TypeError as e:
    print(e)
def again():
    try:
        raise ValueError("again")
    except ValueError:
        try:
            raise KeyError("inner")
        except KeyError:
            pass
        raise
try:
    again()
except ValueError as e:
    show(e)
import sys
try:
    1 / 0
except ZeroDivisionError:
    try:
        [][0]
    except IndexError:
        print(sys.exc_info()[0])
    print(sys.exc_info()[0])
print(sys.exc_info()[0])
def g():
    try:
        yield 1
    except ValueError as e:
        show(e)
        yield 2
it = g()
next(it)
print(it.throw(ValueError("thrown")))
e = ValueError("noted")
e.add_note("a note")
print(e.__notes__)
def f():
    y = 1
    def g():
        global y
        return y
    def h():
        return y + 1
    return g, h
y = 9
g, h = f()
print(g(), h())
print(slice(1, 2) == slice(1, 2, None), slice(3, None, -1).indices(10), slice(1, 2, 3))
try:
    hash(slice(1))
except TypeError as e:
    print(e)
from collections import defaultdict
d = defaultdict()
try:
    d[1]
except KeyError as e:
    print("KeyError", e)
d.default_factory = list
d[1].append(2)
print(d, dict(d))
print(len(range(-5, -10, -2 ** 63)), list(range(-5, -10, -2 ** 63)))
