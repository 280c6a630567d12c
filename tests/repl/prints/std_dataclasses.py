# SPDX-License-Identifier: MIT
from dataclasses import *
@dataclass
class C: x: int = 3
print(repr(fields(C)[0]).replace("<dataclasses._MISSING_TYPE object at 0x", "").split("default_factory")[0], repr(fields(C)[0]).split("init=")[1])
try:
    @dataclass
    class D:
        x: int = 3
        y = field(default=2)
except TypeError as e: print(e)
try:
    @dataclass(weakref_slot=True)
    class D: x: int = 3
except TypeError as e: print(e)
class Base: y: int = 1
try:
    @dataclass
    class F(Base): y = field()
except TypeError as e: print(e)
@dataclass
class G(C): x = 5
print(G())
