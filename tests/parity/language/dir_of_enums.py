# dir() of enumerations, and what types keep in __dict__.
import enum
class C(enum.Enum):
    A = 1
class I(enum.IntEnum):
    A = 1
    def extra(self): return 1
class N(enum.Enum):
    A = 1
    def __new__(cls, v):
        o = object.__new__(cls); o._value_ = v; return o
    def __init_subclass__(cls, **k): pass
print(dir(C)); print(dir(C.A)); print([n for n in dir(I) if n[:2] != "__"]); print(dir(N)); print(set(dir(I)) >= set(dir(int)))
print("append" in vars(list), vars(dict)["get"]({1: 2}, 1), int.__init_subclass__ is object.__init_subclass__)
def f(): pass
f.x = 1
print(f.__dict__, vars(f))
