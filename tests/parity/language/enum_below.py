"""Classes below int, str, float and dict, also as enums, in issubclass."""
from enum import *
class X(int): pass
class Y(IntEnum): a = 1
class Z(str, Enum): a = "x"
class F(float): pass
class G(F, Enum): q = 1.5
M = IntEnum("M", "j k")
for c in (X, Y, Z, M, G):
    print([issubclass(c, t) for t in (int, str, float, object, Enum)], isinstance(c(1) if c in (X, Y, M) else next(iter(c)), (int, str, float)))
print(Y._member_type_, Z._member_type_, M._member_type_ is int, Enum._member_type_ is object, Y._member_names_, Y._member_map_, Y._value2member_map_)
class A(dict): pass
class B(A): pass
print(issubclass(B, dict), issubclass(A, list), issubclass(bool, int), issubclass(X, (str, int)))
try:
    Y()
except TypeError as e: print("TypeError", e)
