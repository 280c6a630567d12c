# SPDX-License-Identifier: MIT
# dataclasses: fields, options, texts, what is refused.
from dataclasses import dataclass, field, asdict, astuple, replace, fields, is_dataclass, FrozenInstanceError, InitVar
from typing import ClassVar, List, Optional
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
@dataclass
class P:
    x: int
    y: int = 2
    tags: List[str] = field(default_factory=list)
    total: ClassVar[int] = 0
    hidden: int = field(default=5, repr=False, compare=False)
    made: str = field(init=False, default="m")
p = P(1)
print(p, p == P(1), p == P(2), P(1, hidden=9) == P(1), p.tags is P(1).tags, [f.name for f in fields(p)], is_dataclass(P), is_dataclass(p), is_dataclass(3), P.y, P.total)
t(lambda: P()); t(lambda: P(1, 2, [], 4, 5)); t(lambda: P(1, z=3)); t(lambda: P(1, x=2)); t(lambda: hash(p)); t(lambda: p < p)
@dataclass(order=True, frozen=True)
class V:
    a: int
    b: float = 0.5
v = V(1)
def seta(): v.a = 2
def dela(): del v.a
t(seta); t(dela); print(v < V(2), sorted([V(3), V(1, 2.0), V(1)]), {V(1): "k"}[V(1, 0.5)], hash(v) == hash(V(1)), v >= V(1), max(V(1), V(4)))
t(lambda: v < 3); t(lambda: V())
@dataclass
class Q(P):
    z: int = 7
    y: int = 20
print(Q(1), Q(1, 2, ["a"], 3, 4).z, replace(Q(1), x=9, z=1), asdict(Q(1)), astuple(Q(1)))
@dataclass
class N:
    p: P
    more: dict = field(default_factory=dict)
    post: int = 0
    seed: InitVar[int] = 3
    def __post_init__(self, seed): self.post = self.p.x * seed
n = N(P(4), {"k": [P(5)]})
print(n, asdict(n)["more"], n.post, N(P(1), seed=10).post, astuple(n)[0])
n.p.tags.append(1); d = asdict(n); d["p"]["tags"].append(2); print(n.p.tags)
def bad1():
    @dataclass
    class B:
        x: list = []
def bad2():
    @dataclass
    class B:
        x: int = 1
        y: int
def bad3(): field(default=1, default_factory=list)
t(bad1); t(bad2); t(bad3)
@dataclass(eq=False)
class I: x: int = 1
print(I() == I(), hash(I()) is not None, I())
@dataclass(repr=False)
class R:
    x: int = 1
    def __eq__(self, o): return "own eq"
print(R() == R(), repr(R())[:12])
@dataclass(kw_only=True)
class K:
    a: int
    b: int = 1
print(K(a=3)); t(lambda: K(3)); t(lambda: K())
@dataclass
class Config:
    dim: int = 4
    training: bool = False
    _attrs: int = 1
    _class: str = "c"
    def twice(self): return self.dim * 2
    @property
    def half(self): return self.dim / 2
c = Config(8)
print(c, c.twice(), c.half, vars(c))
match Config(3):
    case Config(3, tr): print("matched", tr)
@dataclass
class Self:
    me: Optional["Self"] = None
s = Self(); s.me = s; print(s)
@dataclass
class Flag:
    on: bool = False
    off: bool = field(default=False)
print(Flag(), Flag.on, Flag.off, Flag(on=True))
