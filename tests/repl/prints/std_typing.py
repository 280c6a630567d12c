# SPDX-License-Identifier: MIT
from typing import *
import abc, enum, sys
T = TypeVar("T"); K = TypeVar("K", bound=int)
class Stack(Generic[T]):
    def __init__(self) -> None: self.items: list[T] = []
    def push(self, x: T) -> "Stack[T]": self.items.append(x); return self
s: Stack[int] = Stack[int](); print(s.push(3).items, Stack[int], List[int], Optional[str], Union[int, str, None], Dict[str, List[int]], Callable[[int], str], Tuple[int, ...], Literal["a", 1], Any, list[int], dict[str, int], int | None, type[int])
@runtime_checkable
class Sized2(Protocol):
    def size(self) -> int: ...
class A:
    def size(self): return 3
print(isinstance(A(), Sized2), isinstance(3, Sized2))
class TD(TypedDict, total=False):
    a: int
    b: str
print(TD(a=1), TD.__annotations__, TD.__total__)
class NT(NamedTuple):
    x: int
    y: str = "q"
    def both(self): return f"{self.x}{self.y}"
print(NT(1), NT(1).both(), NT._fields, NT.__annotations__)
def f(a: int, b: "str" = "x", *c: float, **d: T) -> Optional[int]: ...
print(get_type_hints(f), f.__annotations__, get_origin(List[int]), get_args(Dict[str, int]), get_origin(Union[int, str]))
class Base(abc.ABC):
    @abc.abstractmethod
    def go(self): ...
    @property
    @abc.abstractmethod
    def p(self): ...
try: Base()
except TypeError as e: print(e)
class D(Base):
    def go(self): return 1
    p = 3
print(D().go(), D().p, sorted(Base.__abstractmethods__))
print(cast(int, "a"), NewType("U", int)(3), TYPE_CHECKING)
UserId = NewType("UserId", int); print(UserId.__name__, Annotated[int, "m"], get_args(Annotated[int, "m"]), Final, ClassVar[int], Type[int], Iterable[int], T)

