# SPDX-License-Identifier: MIT
# pprint of boxes, texts, classes of collections, dataclasses.
from pprint import pprint, pformat, pp
from collections import *
from dataclasses import dataclass, field
import types
cfg = {"model": {"name": "gpt", "layers": list(range(24)), "dims": (64, 128, 256), "act": "gelu " * 20}, "lr": 1e-3, "tags": {1, 2, 3}, 1: None, "opt": {"betas": (0.9, 0.95), "eps": 1e-8, "nested": {"x": [1, 2, {"y": "z" * 60}]}}}
pprint({"b": 1, "a": 2}); pprint({"b": 1, "a": 2}, sort_dicts=False); pp({"b": 1, "a": [1]})
cfg2 = {k: v for k, v in cfg.items() if k != 1}
pprint(cfg2); pprint(cfg2, width=40); pprint(cfg2, indent=4, width=60); pprint(cfg2, depth=2); pprint(cfg2, compact=True, width=50)
pprint([1]); pprint((1,)); pprint([]); pprint("short"); pprint("long text of words " * 10); pprint("a\nb\nc" * 20); pprint(["x" * 50, "y" * 50]); pprint(list(range(100)), compact=True)
pprint(defaultdict(list, {i: list(range(10)) for i in range(5)})); pprint(Counter("abracadabra" * 3 + "xyz" * 2), width=20); pprint(OrderedDict((i, "v" * 10) for i in range(8))); pprint(deque(range(40), maxlen=50)); pprint(deque(["a" * 30] * 4))
@dataclass
class Opt:
    lr: float = 0.1
    names: list = field(default_factory=lambda: ["n" * 20] * 5)
    sub: dict = field(default_factory=dict)
    hidden: int = field(default=1, repr=False)
pprint(Opt()); pprint([Opt(), Opt(sub={"a": 1})], width=60); pprint(types.SimpleNamespace(a="x" * 40, b="y" * 40))
l = [1, 2]; l.append(l); print(pformat(l).split(" with ")[0]); pprint(frozenset(range(40))); pprint({"set": set(range(30))}); pprint(1_000_000, underscore_numbers=True)
pprint(((1, 2), (3, 4)) * 12); pprint({(1, 2): "tuple key", (0, 1): "b"}); pprint(b"bytes"); pprint(None); pprint({"k": ["long words here to wrap " * 6]}); pprint({3: 1, "a": 2}) if 0 else None
P = namedtuple("P", "x y"); pprint(P(1, 2)); pprint([P("a" * 40, "b" * 40)] * 2)
import random, string, inspect
print(random.Random(1.5).random(), random.Random(-2.5).random(), string.printable[-7:].isspace())
class M:
    def m(self, a, *, b: int = 1) -> str: pass
print(inspect.getfullargspec(M().m), inspect.getfullargspec(lambda x, *y: x))
