# SPDX-License-Identifier: MIT
import json, tomllib
from dataclasses import dataclass, field, asdict, replace, fields, astuple, is_dataclass, FrozenInstanceError, KW_ONLY, InitVar, make_dataclass
from typing import Optional, List, Dict, ClassVar
toml = tomllib.loads('''
title = "x"
[optim]
lr = 1e-3
betas = [0.9, 0.999]
name = 'adam'
[[stage]]
n = 1
[[stage]]
n = 2
on = true
''')
print(toml)
@dataclass
class Base:
    lr: float = 1e-3
    tags: List[str] = field(default_factory=list)
    N: ClassVar[int] = 3
@dataclass(order=True)
class Opt(Base):
    name: str = "adam"
    betas: tuple = (0.9, 0.95)
    secret: str = field(default="s", repr=False, compare=False)
    extra: Optional[Dict[str, int]] = None
    def __post_init__(self):
        if self.lr < 0: raise ValueError(f"bad lr {self.lr}")
@dataclass(frozen=True, slots=True)
class P:
    x: int
    y: int = 0
    _: KW_ONLY
    z: int = 5
@dataclass
class Q:
    a: int
    b: InitVar[int] = 3
    c: int = field(init=False)
    def __post_init__(self, b): self.c = self.a + b
o = Opt(tags=["a"])
print(o, asdict(o), astuple(o))
print(replace(o, lr=0.5), o == Opt(tags=["a"]), o < Opt(lr=1.0))
print([f.name for f in fields(o)], fields(Opt)[0].default, fields(Opt)[0].type)
p = P(1, z=2)
try: p.x = 3
except FrozenInstanceError as e: print(type(e).__name__, e)
try: P(1, 2, 3)
except TypeError as e: print(e)
print(p, hash(p) == hash(P(1, z=2)), {p: 1}[P(1, 0, z=2)])
print(Q(4), Q(4, 5).c, is_dataclass(Q), is_dataclass(Q(1)))
try: Opt(lr=-1)
except ValueError as e: print(e)
try: Opt(foo=1)
except TypeError as e: print(e)
try:
    @dataclass
    class Bad:
        x: list = []
except ValueError as e: print(e)
C = make_dataclass("C", [("x", int), ("y", int, field(default=5))], namespace={"add": lambda s: s.x + s.y})
print(C(1), C(1).add())
print(json.dumps(asdict(o), indent=2, sort_keys=True))
print(json.loads('{"a": [1, 2.5, null, true, "\\u00e9"]}'))
try: json.loads('{"a": }')
except json.JSONDecodeError as e: print(e, e.lineno, e.colno, e.pos)
class Enc(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, set): return sorted(o)
        return super().default(o)
print(json.dumps({"s": {3, 1, 2}}, cls=Enc), json.dumps({1: 2, None: 3, True: 4}), json.dumps([1.0, 1e20, float("inf")]))
try: json.dumps(object)
except TypeError as e: print(e)
match p:
    case P(x, y, z=zz): print("m", x, y, zz)
print(P.__match_args__, Opt.__dataclass_fields__["lr"].name)
try: tomllib.loads("a = ")
except tomllib.TOMLDecodeError as e: print(e)
