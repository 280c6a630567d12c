# SPDX-License-Identifier: MIT
import math, copy, functools, itertools, json, os, sys, operator, random, time, enum, typing, logging, argparse, types, gc, warnings, traceback, string, datetime, collections
from dataclasses import dataclass, field, asdict, replace
from typing import Any, Callable, Dict, List, Optional, Tuple, Union, TYPE_CHECKING
if TYPE_CHECKING: import nothing_here
from enum import Enum, IntEnum, auto
from functools import partial, reduce, lru_cache
print(math.ceil(1.2), math.floor(-1.2), math.sqrt(16), math.prod([2, 3]), math.gcd(12, 8), math.isclose(1, 1 + 1e-12), math.log2(8), math.log(math.e), math.isnan(float("nan")), math.inf, round(2.5), round(1.2345, 2), round(7, -1), abs(-3), divmod(7, 2), pow(2, 5), pow(2, 5, 7), int("12"), int(3.9), int("ff", 16), float("1.5"), math.trunc(-1.5), math.pow(2, 3), math.fabs(-2), math.isinf(1.0), math.factorial(5), math.comb(5, 2), math.cos(0), math.hypot(3, 4), math.copysign(1, -2), math.lcm(4, 6) if hasattr(math, "lcm") else 12)
l = [[1], 2]; c = copy.deepcopy(l); c[0].append(9); s = copy.copy(l); print(l, c, s)
print(partial(int, base=2)("101"), reduce(lambda a, b: a * b, [1, 2, 3, 4]), list(itertools.product([1, 2], "ab")), list(itertools.chain([1], [2])), list(itertools.combinations([1, 2, 3], 2)), list(itertools.permutations([1, 2])), list(itertools.accumulate([1, 2, 3])), list(itertools.repeat(1, 2)), list(itertools.chain.from_iterable([[1], [2]])), [k for k, g in itertools.groupby("aab")], list(itertools.zip_longest([1], [2, 3])), list(itertools.takewhile(lambda v: v < 2, [1, 2])))
@lru_cache(maxsize=None)
def fibo(n): return n if n < 2 else fibo(n - 1) + fibo(n - 2)
print(fibo(20), json.dumps({"a": [1, 2.5, None, True], "b": "x"}), json.loads('{"k": [1, 2]}')["k"], os.path.join("a", "b"), os.path.basename("x/y.py"), os.environ.get("NOPE_X", "d"), operator.add(1, 2), operator.itemgetter(1)([5, 6]), operator.attrgetter("real")(3))
@dataclass
class Cfg:
    dim: int = 8
    names: List[str] = field(default_factory=list)
    opt: Optional[int] = None
    def total(self): return self.dim * 2
@dataclass(frozen=True)
class F2:
    a: int
    b: float = 1.5
c = Cfg(dim=4); c.names.append("q"); print(c, c.total(), c == Cfg(4, ["q"]), asdict(c), replace(c, dim=1).dim, F2(1), F2(1) == F2(1))
class Color(Enum):
    RED = 1
    BLUE = auto()
class N(IntEnum):
    A = 1
print(Color.RED, Color.RED.name, Color.BLUE.value, Color(1), [m.name for m in Color], Color.RED is Color.RED, N.A == 1, Color["RED"], repr(Color.RED))
p = argparse.ArgumentParser(description="d"); p.add_argument("--lr", type=float, default=0.1); p.add_argument("--n", type=int, default=3, help="h"); p.add_argument("--flag", action="store_true"); a = p.parse_args([]); print(a.lr, a.n, a.flag)
a = p.parse_args(["--lr", "0.5", "--flag"]); print(a.lr, a.flag)
log = logging.getLogger(__name__); log.setLevel(logging.INFO)
random.seed(0); r = random.random(); print(0 <= r < 1, random.choice([4]), types.SimpleNamespace(a=1).a, sys.version_info >= (3, 8), isinstance(time.time(), float), string.ascii_lowercase[:3])
warnings.warn; print(isinstance(sys.argv, list), callable(print), Union[int, str] is not None, List[int] is not None)
def typed(a: "Tensor", b: Optional[int] = None, *, c: Dict[str, Any] = None) -> Tuple[int, ...]: return (1,)
print(typed(1), id(l) == id(l), isinstance(3, (int, float)), isinstance(True, int), type(3), type("a"), type(3.0).__name__, isinstance([], list), type(None).__name__, int is int, str(int), issubclass(bool, int))
