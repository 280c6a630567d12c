# SPDX-License-Identifier: MIT
# Classes that take [T]: their parameters, what stands for them, dicts with keys.
from typing import *
from abc import ABC
T = TypeVar("T"); K = TypeVar("K", bound=str); N = TypeVar("N", int, float); C = TypeVar("C", covariant=True)
class A(ABC): pass
print(A.__mro__, A.__bases__)
class Box(Generic[T]):
    n = 0
    def __init__(self, x: T): self.x = x
    @classmethod
    def make(cls, x): return cls(x)
class Pair(Box[T], Generic[T, K]): pass
class IB(Box[int]): pass
class Pr(Protocol[T]):
    def get(self) -> T: ...
print(Box.__mro__, Pair.__mro__, IB.__mro__, Pr.__mro__, Box.__bases__, IB.__bases__)
print(Box.__parameters__, Pair.__parameters__, IB.__parameters__, IB.__orig_bases__, Pair.__orig_bases__, Box.__orig_bases__)
b = Box[int](3); print(b.__orig_class__, vars(b), Box[int].make(4).x, Box[int].n, type(b), isinstance(b, Box))
print(Box[T], Box[T][str], Box[int].__origin__, Box[int].__args__, Box[int] == Box[int], hash(Box[int]) == hash(Box[int]), Box[Box[int]], Pair[int, str], Pair[T, str].__parameters__)
print(list[T], list[T][int], dict[K, T].__parameters__, Union[T, int][str], Optional[T][int], T | None, (T | None).__args__, Callable[[T], K][int, str], tuple[T, ...][int])
print(T.__name__, T.__constraints__, N.__constraints__, K.__bound__, T.__bound__, C, C.__covariant__, repr(N), T.__module__)
P = ParamSpec("P"); Ts = TypeVarTuple("Ts"); print(P, Ts, P.args, P.kwargs, Callable[P, int], Generic[T])
try: Box[int, str]
except TypeError as e: print(e)
try: IB[int]
except TypeError as e: print(e)
try: Generic[int]
except TypeError as e: print(e)
UserId = NewType("UserId", int); print(UserId(5), UserId.__name__, UserId.__supertype__, UserId)
class TD(TypedDict):
    a: int
    b: NotRequired[str]
class TD2(TD, total=False):
    c: Required[list[int]]
    d: float
print(TD(a=1), TD.__annotations__, sorted(TD.__required_keys__), sorted(TD.__optional_keys__), TD2.__total__, sorted(TD2.__required_keys__), sorted(TD2.__annotations__), is_typeddict(TD), TD)
TD3 = TypedDict("TD3", {"x": int, "y-z": str}); print(TD3(x=1), TD3.__annotations__, TD3.__name__)
try: isinstance({}, TD)
except TypeError as e: print(e)
# Alternatives among which one has several arguments.
print(dict[str, int] | None, tuple[int, str] | list[str], None | dict[str, int], list[dict[str, int] | None])
for make in (lambda: int(1, 2, 3), lambda: str(1, 2, 3, 4), lambda: bytes(1, 2, 3, 4), lambda: complex(1, 2, 3), lambda: float(1, 2)):
    try: make()
    except TypeError as e: print(e)
