# SPDX-License-Identifier: MIT
from typing import NamedTuple
class E(NamedTuple):
    name: str
    id: int = 3
    def hi(self): return f"{self.name}-{self.id}"
    @property
    def up(self): return self.name.upper()
print(E("a"), E("a").hi(), E("b", 4).up, E._fields, E._field_defaults, E.__annotations__)
match E("x", 1):
    case E(name="x", id=i): print(i)
match E("x", 1):
    case E(n, i): print(n, i)
try: E()
except TypeError as e: print(e)
try: E(1,2,3)
except TypeError as e: print(e)
import typing
from typing import *
import collections.abc
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, x: T): self.x = x
print(Box[int](3).x, Box(4).x)
@runtime_checkable
class HasRun(Protocol):
    def run(self) -> int: ...
class R:
    def run(self): return 3
print(isinstance(R(), HasRun), isinstance(3, HasRun), HasRun.__name__)
UserId = NewType("UserId", int)
print(UserId(5) + 1)
class TD(TypedDict, total=False):
    a: int
    b: str
print(TD(a=1, b="x"), type(TD(a=1)))
print(Optional[int], List[int], Dict[str, List[int]], Union[int, str], Any, Callable[[int], str], Tuple[int, ...], Literal["a", 1], ClassVar[int])
print(get_origin(List[int]), get_args(Dict[str, int]), get_args(Optional[int]), get_origin(Optional[int]) is Union, get_origin(list[int]), get_args(list[int]))
print(list[int], dict[str, int], int | None, tuple[int, ...])
def f(a: int, b: "str" = "x", *c: float, d: Optional[int] = None) -> List[int]: ...
print(f.__annotations__, get_type_hints(f))
print(isinstance(3, int | str), isinstance(None, int | None), isinstance("a", (int, float)))
print(isinstance([1], collections.abc.Sequence), isinstance({}, collections.abc.Mapping), isinstance(3, collections.abc.Iterable), callable(f), isinstance(f, Callable), isinstance([], Iterable))
class C(Box[int]):
    y: ClassVar[int] = 3
print(C(3).x, C.__annotations__)
cast(int, "a")
@overload
def g(a: int) -> int: ...
def g(a): return a
print(g(3))
try: print(int | None, int | str)
except Exception as e: print(repr(e))
try: print(isinstance(3, int | str), isinstance(None, int | None))
except Exception as e: print(repr(e))
import collections.abc
from collections.abc import *
for c in ("Sequence", "Mapping", "Iterable", "Callable", "Hashable", "Sized", "Iterator", "MutableMapping", "Set", "Container", "Generator", "Collection"):
    try: print(c, isinstance([1], getattr(collections.abc, c)), isinstance({}, getattr(collections.abc, c)), isinstance(3, getattr(collections.abc, c)), isinstance("a", getattr(collections.abc, c)), isinstance((i for i in []), getattr(collections.abc,c)))
    except Exception as e: print(c, repr(e))
