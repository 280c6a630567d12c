# Digits of all scripts, integers below int, and what bool refuses.
print(int("१२३"), int("٤٥"), int("𝟙𝟚𝟛"), int("𝟿"), float("१.५"))
class N(int):
    def __index__(self): return 42
print(int(N(7)), [0] * 50 == [0] * 50, N(7) + 1)
class M(int):
    def __int__(self): return 9
print(int(M(7)))
try:
    class B(bool): pass
except TypeError as e:
    print(e)
try:
    1 / 0
except ZeroDivisionError as e:
    print(e.__traceback__.tb_lineno, type(e.__traceback__).__name__)
class Scope:
    def __enter__(self): pass
    def __exit__(self, kind, value, trace):
        print(kind.__name__, trace is not None, trace is value.__traceback__)
        return True
with Scope():
    raise ValueError
from functools import partialmethod
class D:
    def m(self, a, b): return a, b
    pm = partialmethod(m, 1)
print(D().pm(2))
