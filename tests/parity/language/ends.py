# SPDX-License-Identifier: MIT
def g():
    try:
        x = yield 1
        print("got", x)
        yield 2
    finally:
        print("fin")
    return 5
i = g()
try: i.send(3)
except TypeError as e: print(e)
def bad():
    yield 1
    raise StopIteration(3)
try: list(bad())
except RuntimeError as e: print(e, repr(e.__cause__))
def ign():
    try: yield 1
    except GeneratorExit: yield 2
j = ign(); next(j)
try: j.close()
except RuntimeError as e: print(e)
def rec():
    yield next(me)
me = rec()
try: next(me)
except ValueError as e: print(e)
def use():
    for v in g(): break
    print("after")
    for v in g(): return v
use()
try:
    for v in g(): raise KeyError(1)
except KeyError as e: print(e)
def w():
    for v in g(): yield v
k = w(); next(k); k.close()
print("end")

print(b"%d-%s" % (3, b"x"), b"%05.2f|%x|%c" % (3.14159, 255, 65), b"%r" % "x", b"%%")
print("%5.2f|%-5d|%+d|%05d|%x|%X|%o|%e|%g|%r|%s|%%|%c|%5s|%.3s|%*d|%.*f|%-*d|" % (3.14159, 3, 4, 42, 255, 255, 8, 12345.678, 0.0001, "a", None, "z", "ab", "abcdef", 5, 3, 2, 1.5, 4, 7))
print("%(a)s %(b)03d" % {"a": 1, "b": 2}, "%#x" % 255, "%i" % 3.9, "% d" % 5, "%c%c" % (65, "é"), "%a" % "é", ascii("é€"))
print(f"{255:_b} {2**40:_x} {65:c} {True:d}")
for f in (lambda: "%d" % "a", lambda: "%x" % 1.5, lambda: "%c" % "ab", lambda: "%y" % 3, lambda: "%f" % "a", lambda: "%(a)s" % 3, lambda: b"%s" % "x", lambda: f"{3:s}", lambda: dict(**{1: 2}), lambda: {**3}, lambda: (lambda **a: a)(a=1, **{"a": 2}), lambda: "é".encode("ascii"), lambda: "%s %s" % 1, lambda: "%" % 1):
    try: print("ok", f())
    except Exception as e: print(type(e).__name__, e)
def check(**k): return k
try: check(*3)
except TypeError as e: print(e)
try: check(**3)
except TypeError as e: print(e)
