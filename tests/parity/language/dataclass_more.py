# SPDX-License-Identifier: MIT
from dataclasses import *
from typing import ClassVar, Optional, List, Any
import dataclasses
@dataclass
class A:
    x: int
    y: int = 3
    z: list = field(default_factory=list, repr=False)
    w: ClassVar[int] = 9
    v: int = field(init=False, default=7)
    i: InitVar[int] = 4
    def __post_init__(self, i): self.q = i
print(A(1), A(1).q, A(1) == A(1), A.__annotations__, [f.name for f in fields(A)], A.w, asdict(A(1)), astuple(A(1)))
for f in (lambda: A(), lambda: A(1,2,3,4,5), lambda: A(1, bad=2), lambda: replace(A(1), v=3)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
@dataclass(kw_only=True)
class K:
    a: int
    b: int = 2
try: K(1)
except TypeError as e: print(e)
print(K(a=1))
@dataclass
class K2:
    a: int
    _: KW_ONLY
    b: int = 2
    c: int
print(K2(1, c=3))
try: K2(1, 2, 3)
except TypeError as e: print(e)
@dataclass(frozen=True, order=True)
class F:
    a: int
    b: str = "x"
f = F(1)
try: f.a = 3
except FrozenInstanceError as e: print(e, isinstance(e, AttributeError))
try: del f.a
except Exception as e: print(type(e), e)
print(hash(f) == hash(F(1)), F(1) < F(2), sorted([F(2), F(1)]), {F(1): 2}[F(1)])
@dataclass(slots=True)
class S:
    a: int = 0
try: S().b = 3
except AttributeError as e: print(e)
print(S.__slots__)
M = make_dataclass("M", [("x", int), ("y", int, field(default=5)), "z"][:2], bases=(A,) if 0 else (), namespace={"add": lambda self: self.x + self.y})
print(M(1), M(1).add(), is_dataclass(M), is_dataclass(M(1)), M.__name__)
try:
    @dataclass
    class Bad:
        a: int = 1
        b: int
except TypeError as e: print(e)
try:
    @dataclass
    class Bad2:
        a: list = []
except ValueError as e: print(e)
@dataclass
class B(A):
    x: int = 10
    extra: Optional[List[int]] = None
print(B(), B.__match_args__, B.__dataclass_fields__["x"].default, fields(B)[0].type, fields(B)[0].default)
@dataclass(eq=False, repr=False)
class N:
    a: int = 0
print(N() == N(), repr(N())[:5])
@dataclass
class Nest:
    a: A
    d: dict = field(default_factory=dict, metadata={"help": "h"})
n = Nest(A(1), {"k": [A(2)]}); print(asdict(n)); print(fields(n)[1].metadata["help"], fields(n)[1].default is MISSING, fields(n)[1].default_factory)
@dataclass
class Cmp:
    a: int = field(compare=False); b: int = field(hash=False, default=2)
print(Cmp(1) == Cmp(2), Cmp.__hash__, replace(Cmp(1), b=9), Cmp.__init__.__name__, Cmp.__eq__(Cmp(1), 3))
