# SPDX-License-Identifier: MIT
from collections import namedtuple
P = namedtuple("P", "x y", defaults=[5])
print(P(1), P._fields, P._field_defaults, P(x=1, y=2)._replace(x=3))
for f in (lambda: P(1,2,3), lambda: P(), lambda: P(1, z=3), lambda: P(1)._replace(q=1)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
a, b = P(1, 2); print(a, b, P(1,2) == (1,2), isinstance(P(1), tuple), P(1)[0], P(1)+ (3,), hash(P(1,2))==hash((1,2)))
print(P.__name__, P.__match_args__, len(P(1,2)), sorted([P(2,1),P(1,2)]))
Q = namedtuple("Q", ["a","b"]); print(Q._make([1,2]), Q(1,2)._asdict(), Q(**{"a":1,"b":2}))
from collections import defaultdict, OrderedDict, Counter, deque, ChainMap
print(isinstance(defaultdict(int), dict), isinstance(Counter(), dict), type(Counter("a")), type(deque()), isinstance(deque(), deque), isinstance(OrderedDict(), OrderedDict))
class MyD(defaultdict):
    def __missing__(self, k): return k * 2
print(MyD()["a"])
class C2(Counter):
    pass
print(C2("aab"), Counter(a=1) + Counter(a=2,b=1), Counter("aab") - Counter("ab"), Counter("ab") & Counter("b"), list(Counter("aab").elements()))
c = Counter("hello"); c.subtract("ll"); print(c, c["zz"], +c)
d = deque([1,2,3], maxlen=3); d.append(4); print(d, d.maxlen); d.rotate(1); print(d); d.appendleft(0); print(d, d[0]); d.extendleft([7,8]); print(d)
o = OrderedDict(a=1,b=2); o.move_to_end("a"); print(o, o.popitem(last=False))
cm = ChainMap({"a":1},{"a":2,"b":3}); print(cm["a"], cm["b"], cm.maps, cm.new_child({"b":9})["b"], cm.parents)
cm["z"] = 5; print(cm.maps, dict(cm))
dd = defaultdict(list, {"q":[1]}); dd["w"].append(2); print(dd, dd.default_factory, "e" in dd, dd.get("e"), dict(dd))
class OD(OrderedDict):
    def __setitem__(self, k, v): super().__setitem__(k, v*2)
o = OD(); o["a"]=1; print(o, o["a"])
from collections import ChainMap, UserDict, Counter
cm = ChainMap({"a":1},{"a":2,"b":3}); print(cm["a"], cm["b"], cm.maps, cm.new_child({"b":9})["b"], cm.parents)
cm["z"] = 5; print(cm.maps, dict(cm), "a" in cm, len(cm), sorted(cm))
class U(UserDict):
    def __setitem__(self, k, v): super().__setitem__(k, v + 1)
u = U(a=1); u["b"] = 2; print(u, u["a"], len(u), list(u.items()))
print(+Counter(a=1, b=-1))
from collections import deque, defaultdict
d = deque([1], maxlen=3)
print(d.maxlen, range(1,5,2).start, range(1,5,2).stop, range(3).step, defaultdict(list).default_factory)
for o, n in (([], "n"), ({}, "map"), ({}, "of"), ((), "n"), (set(), "frozen"), ([], "deque"), ("", "n"), ([], "appendleft"), ({}, "most_common"), ({}, "move_to_end"), ({}, "top"), ({}, "factory")):
    print(type(o).__name__, n, hasattr(o, n))
def g(): yield 1
x = g()
print(hasattr(x, "next"), hasattr(x, "throw"), hasattr(x, "func"), x.__name__, x.__qualname__, x.gi_running)
