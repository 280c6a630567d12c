# SPDX-License-Identifier: MIT
# Keys by hash and equality, in the order they came; what stands on them; NotImplemented.
d = {1: "a"}
d[1.0] = "b"; d[True] = "c"
print(d, len(d), d[1], d.get(1.0))
print({0: "x"}[False], {False: 1, 0: 2, 0.0: 3}, {2.5: 1}[5 / 2])
print(hash(1) == hash(1.0) == hash(True), hash(0.5), hash(-1), hash(2**61 - 1), hash(2**70), hash(-2**70), hash(1e300), hash(float("inf")), hash(0.1), hash(-0.1), hash(1e-300))
print(hash((1, 2)), hash(()), hash((1, (2, 3.5))), hash(True))
print({2**100: 1}[2**100], {1e30: 2}.get(10**30), {2.0**100: 3}[2**100])
print({(1, 2): "t"}[(1.0, 2)], (1, True) in {(1, 1)}, {("a", ("b",)): 1}[("a", ("b",))])
for bad in ([1], {}, {1}, ([1],), ({},), {1: 2}.keys()):
    for f in (lambda b: {b: 1}, lambda b: {b}, lambda b: b in {}, hash, lambda b: {}.get(b)):
        try:
            print(f(bad))
        except TypeError as e:
            print("TypeError", e)
class OnlyEq:
    def __eq__(self, other): return True
try:
    {OnlyEq(): 1}
except TypeError as e:
    print(e)
class P:
    def __init__(self, x): self.x = x
    def __eq__(self, o): return isinstance(o, P) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __repr__(self): return f"P({self.x})"
m = {P(1): "one", P("a"): "a", 1: "int"}
print(m, m[P(1)], m[1], m[P("a")], P(2) in m, len(m))
class K:
    def __init__(self, x): self.x = x
    def __eq__(self, o): return self.x == (o.x if isinstance(o, K) else o)
    def __hash__(self): return hash(self.x)
m = {"a": 1, 5: 2}
print(m[K("a")], m[K(5)], K("b") in m)
m = {K("q"): 1}
print(m["q"], "z" in m)
m["q"] = 7
print(len(m), m[K("q")])
fs = {frozenset([1, 2]): "fs"}
print(fs[frozenset([2, 1])], frozenset([1]) == {1}, {frozenset([1])} == {frozenset([1])})
n = float("nan")
print({n: 1}, len({n: 1, 2: 3}))
# order and removal
d = {i: i * i for i in range(30)}
for i in range(0, 30, 3): del d[i]
d[0] = "back"
print(list(d), len(d), d.popitem(), list(d)[-1])
while d: d.popitem()
print(d)
d["x"] = 1
print(d)
s = set(range(20)); s -= set(range(5, 15)); print(sorted(s), len(s))
for i in range(40): s.discard(i)
print(s, len(s))
# while they change
d = {1: 1, 2: 2}
try:
    for k in d: d[k + 10] = 0
except RuntimeError as e: print(e)
try:
    for k in d.keys(): del d[k]
except RuntimeError as e: print(e)
s = {1, 2}
try:
    for k in s: s.add(k + 5)
except RuntimeError as e: print(e)
# views are live
d = {"a": 1}
ks, vs, its = d.keys(), d.values(), d.items()
d["b"] = 2
print(ks, vs, its, len(ks), "b" in ks, 2 in vs, ("b", 2) in its, ("b", 3) in its)
print(ks & {"a", "z"}, sorted(ks | {"z"}), ks - {"a"}, ks == {"a", "b"}, its == {("a", 1), ("b", 2)}, ks <= {"a", "b", "c"})
print(list(reversed(d)), list(zip(ks, vs)), max(vs), ks.isdisjoint({"q"}))
try: ks[0]
except TypeError as e: print(e)
# sets
print({1, 2} | {3}, {1, 2} & {2, 5}, {1, 2} ^ {2, 3}, {1, 2} - {1}, {1, 2} < {1, 2, 3}, {1} >= {1})
try: {1} | [2]
except TypeError as e: print(e)
print({1}.union([2], (3,)), {1, 2, 3}.intersection([1, 2], [2]), {1, 2, 3}.difference([1], [2]))
s = {1, 2, 3}; s.intersection_update([1, 2]); s.symmetric_difference_update([2, 9]); print(s)
try: frozenset([1]).add(2)
except AttributeError as e: print(e)
print(type(frozenset([1]) | {2}).__name__, type({2} | frozenset([1])).__name__)
try: {} + {}
except TypeError as e: print(e)
# Counter, defaultdict, OrderedDict, lru_cache
from collections import Counter, defaultdict, OrderedDict
c = Counter("abracadabra")
c.update("aaz"); c.subtract({"b": 5})
print(c["a"], c["b"], c["nope"], len(c), c.most_common(2))
print(Counter(a=3, b=1) + Counter(a=1, c=2), Counter(a=3, b=1) - Counter(a=1, b=4), Counter(a=3) & Counter(a=1), Counter(a=3) | Counter(b=1))
dd = defaultdict(list)
dd[1].append("x"); dd[True].append("y"); dd[1.0].append("z")
print(dd, dd.copy()[7], Counter([1, True, 1.0, 2]))
o = OrderedDict([("a", 1), ("b", 2), ("c", 3)])
o.move_to_end("a"); print(list(o), o.popitem(last=False), list(o))
o.move_to_end("a", last=False); print(list(o))
from functools import lru_cache
@lru_cache(maxsize=2)
def f(x, y=0):
    print("f", x, y)
    return x
f(1); f(1); f(2); f(3); f(1); f(1.0); f(x=1); f(1, y=0)
print(f.cache_info()); f.cache_clear(); print(f.cache_info(), f.__name__, f.__wrapped__(9))
# NotImplemented and reflected methods
class A:
    def __eq__(self, o): return NotImplemented
    def __add__(self, o): return NotImplemented
    def __lt__(self, o): return NotImplemented
class B:
    def __eq__(self, o): return "B says"
    def __radd__(self, o): return "radd"
    def __gt__(self, o): return "gt"
print(A() == B(), A() + B(), A() < B(), A() == A(), A() != B(), NotImplemented)
try: A() + 1
except TypeError as e: print(e)
try: A() < 1
except TypeError as e: print(e)
class C(A):
    def __radd__(self, o): return "C first"
print(A() + C())
