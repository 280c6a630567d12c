# SPDX-License-Identifier: MIT
# Objects of the program's classes, named tuples, enumerations, what collections
# has, functions, bytes and shared objects come to the other ranks as they are.
import datetime
import enum
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()

Point = namedtuple("Point", "x y")

class Row(NamedTuple):
    name: str
    score: float = 0.5

class Color(enum.Enum):
    RED = "r"
    BLUE = "b"

class Level(enum.IntEnum):
    LOW = 1

@dataclass(frozen=True)
class Result:
    uid: str
    tags: list = field(default_factory=list)

class Node:
    def __init__(self, value):
        self.value, self.next = value, self

class Slim:
    def __init__(self, keep):
        self.keep, self.cache = keep, object
    def __getstate__(self):
        return {"keep": self.keep}
    def __setstate__(self, state):
        self.__dict__.update(state)
        self.cache = "made again"

class Reduced:
    def __init__(self, a, b):
        self.a, self.b = a, b
    def __reduce__(self):
        return Reduced, (self.a, self.b * 10)

class Outer:
    class Inner:
        pass

class BadBatch(ValueError):
    pass

def helper(x):
    return x + 1

counts = defaultdict(list)
counts["k"].append(rank)
shared = [rank]
mine = {
    "point": Point(rank, [2]), "row": Row("n"), "color": Color.BLUE, "level": Level.LOW,
    "result": Result("u%d" % rank, ["t"]), "deque": deque([1, rank], maxlen=2), "ordered": OrderedDict(b=1, a=2),
    "counter": Counter("aab"), "default": counts, "bytes": b"\x00\xff", "array": bytearray(b"ab"), "complex": 1 + 2j,
    "frozen": frozenset([3]), "twice": [shared, shared], "slim": Slim(rank), "reduced": Reduced(1, rank),
    "error": BadBatch("no", rank), "function": helper, "kinds": [Result, list, ValueError, len], "inner": Outer.Inner(),
    "dtype": torch.bfloat16, "device": torch.device("cpu"), "size": torch.Size([2, 3]), "big": 2 ** 80,
    "param": torch.nn.Parameter(torch.ones(2)), "leaf": torch.ones(1, requires_grad=True), "half": torch.ones(2, dtype=torch.half),
    "waves": torch.tensor([[1 + 2j, -3j]]).conj(), "wide": torch.tensor(0.1 + 1j, dtype=torch.complex128),
    "when": datetime.timedelta(days=rank)}
got = [None] * dist.get_world_size()
dist.all_gather_object(got, mine)
other = got[1 - rank]
for name, v in other.items():
    if name not in ("slim", "reduced", "inner", "kinds", "function"):
        print(rank, name, repr(v).replace("\n", " "), type(v).__name__)
print(rank, other["color"] is Color.BLUE, other["level"] is Level.LOW, other["level"] + 1, other["result"] == Result("u%d" % (1 - rank), ["t"]))
print(rank, other["slim"].keep, other["slim"].cache, other["reduced"].a, other["reduced"].b, type(other["inner"]) is Outer.Inner)
print(rank, other["function"](1), [k is m for k, m in zip(other["kinds"], mine["kinds"])], other["row"].score, other["point"].y)
other["twice"][0].append("x")
print(rank, other["twice"], other["default"]["new"], isinstance(other["error"], BadBatch), other["error"].args)
node = [Node(rank) if rank == 0 else None]
dist.broadcast_object_list(node, src=0)
print(rank, node[0].value, node[0].next is node[0])
ring = [rank]
ring.append(ring)
lists = [None, None]
dist.all_gather_object(lists, ring)
print(rank, lists[0][1] is lists[0], lists)
for bad in (lambda: 1, (i for i in "ab")):
    try:
        dist.all_gather_object(got, bad)
    except Exception as e:
        print(rank, type(e).__name__, str(e)[:30])
dist.destroy_process_group()
