# SPDX-License-Identifier: MIT
# What programs use of Python around the tensors: data classes, contexts, texts.
import torch, argparse, json, sys, os, time, functools, itertools, collections
from dataclasses import dataclass, field, asdict, replace
from contextlib import contextmanager, nullcontext, ExitStack
from typing import List, Dict, Optional, NamedTuple, Union, Any
from enum import Enum
@dataclass
class Config:
    dim: int = 16
    heads: int = 4
    names: List[str] = field(default_factory=list)
    lr: float = 3e-4
    mode: Optional[str] = None
    def __post_init__(self):
        assert self.dim % self.heads == 0, f"{self.dim} % {self.heads}"
        self.names.append("x")
    @property
    def head_dim(self) -> int:
        return self.dim // self.heads
@dataclass(frozen=True)
class P:
    x: int
    y: float = 2.0
class Kind(Enum):
    A = 1
    B = "two"
class Out(NamedTuple):
    loss: float
    acc: float = 0.5
@contextmanager
def timer(name):
    print(f"enter {name}")
    try:
        yield name.upper()
    finally:
        print(f"exit {name}")
p = argparse.ArgumentParser(description="test")
p.add_argument("--dim", type=int, default=32)
p.add_argument("--lr", type=float, default=1e-3)
p.add_argument("--flag", action="store_true")
p.add_argument("--list", nargs="+", type=int, default=[1, 2])
a = p.parse_args([])
print(a, vars(a))
a = p.parse_args(["--dim", "8", "--flag", "--list", "3", "4", "5"])
print(a.dim, a.flag, a.list)
c = Config(dim=32, mode="q")
print(c, asdict(c), c.head_dim); print(replace(c, dim=64).dim)
print(P(1) == P(1), P(3), hash(P(1)) == hash(P(1)))
try: P(1).x = 3
except Exception as e: print(type(e).__name__, e)
print(Kind.A, Kind.B.value, Kind("two"), [k.name for k in Kind])
o = Out(1.5); print(o, o.loss, o._asdict(), o._replace(acc=1))
with timer("t") as t: print(t)
with ExitStack() as st:
    st.enter_context(timer("a")); st.enter_context(timer("b"))
    st.callback(print, "cb")
x = 3.14159; n = 12345; s = "hi"
print(f"{x:.2f} {x:8.3f}| {x:<8.1f}|",
      f"{x:>+8.2e} {n:,} {n:08d} {n:#x} {s:>5} {s:*^7} {s!r} {x=} {n=:_}")
print(f"{torch.tensor(1.2345):.2f} {torch.tensor(3)} {torch.tensor(3):d} {torch.tensor([1.,2.])}")
print("{:>10}|{:<5}|{}".format("a", "b", c.dim), "%d %s %.3f %5s" % (1, "x", 2.5, "y"))
Cn = collections.Counter("abracadabra"); print(Cn.most_common(2), Cn)
d = collections.OrderedDict(a=1, b=2); d.move_to_end("a"); print(d)
print(list(itertools.chain([1], [2, 3])), list(itertools.product("ab", [1, 2])), functools.reduce(lambda a, b: a * b, [1, 2, 3]))
print(list(zip(*[(1, 2), (3, 4)])), [*range(3)], {**{"a": 1}, "b": 2}, sorted({"b": 1, "a": 2}.items(), key=lambda kv: -kv[1]))
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(30))
print(json.dumps({"a": [1, 2.5, None, True], "b": {"c": "d"}}, indent=2))
match = 3
if (k := len("abc")) > 2: print(k)
try:
    raise KeyError("x")
except (KeyError, ValueError) as e:
    print(repr(e), str(e), e.args)
else: print("no")
finally: print("fin")
def gen():
    r = yield 1
    print("got", r)
    yield from [2, 3]
g = gen(); print(next(g), g.send("z"), list(g))
print(any(i > 2 for i in range(4)), all([]), sum([[1], [2]], []), max([3, 1], key=lambda v: -v), min(4, 2), divmod(7, -2), -7 // 2, -7 % 3, round(2.5), round(2.675, 2))
print(isinstance(True, int), int("0x1f", 16), float("inf"), 1e16, 1e-5, 123456789.0, 1/3, 2**70, 10**20)
print(str([1.0, "a", None]), repr("it's"), "a\tb".expandtabs(4), "x,y".split(","), " a ".strip(), "abc"[::-1], "abc"[-2:])
print(torch.float32, torch.device("cpu"), torch.Size([1, 2]), torch.Size([2,3]).numel(), torch.float16.itemsize, torch.finfo(torch.bfloat16).max, torch.iinfo(torch.int8))
print(type(c), Config, Kind, timer.__name__, gen)if False else print("ok")
print(torch.zeros(2, 3).shape.numel(), [d.itemsize for d in (torch.bool, torch.bfloat16, torch.int32, torch.complex64)])
print([(d.is_floating_point, d.is_complex, d.is_signed) for d in (torch.bool, torch.bfloat16, torch.uint8, torch.int64, torch.complex64)])
