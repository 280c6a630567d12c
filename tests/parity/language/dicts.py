# SPDX-License-Identifier: MIT
d = {"a": 1, "b": 2}
d["c"] = 3; d.update({"d": 4}, e=5); print(d, len(d), "a" in d, d.get("z"), d.get("z", 0), d.pop("a"), d.pop("q", None), list(d.keys()), list(d.values()), list(d.items()))
for k, v in d.items(): print(k, v, end=";")
print(); print({**d, "z": 1}, dict(a=1), dict([("x", 1)]), d | {"y": 2}, {k: v for k, v in sorted(d.items(), key=lambda kv: -kv[1])}, d.setdefault("n", []), d == dict(d))
del d["n"]; print(min(d, key=d.get), max(d.values()), sum(d.values()), d.popitem(), dict.fromkeys("ab", 0), list(reversed(list(d))))
s = {1, 2} | {3}; s.add(4); s.discard(9); print(s, s & {1, 9}, s - {1}, s ^ {1, 7}, {1} <= s, len(s), frozenset([1]) == {1}, set("aab") == {"a", "b"}, s.issubset({1,2,3,4,5}), {1,2}.union([3]), {1}.isdisjoint({2}))
try: d["zz"]
except KeyError as e: print("KeyError", e, repr(e))
from collections import defaultdict, OrderedDict, Counter, deque, namedtuple
c = defaultdict(list); c["x"].append(1); print(dict(c), Counter("aab").most_common(1), Counter([1, 1])[1], list(OrderedDict(a=1).items()))
q = deque([1, 2], maxlen=2); q.append(3); q.appendleft(0); print(list(q), len(q))
P = namedtuple("P", ["x", "y"]); p = P(1, y=2); print(p, p.x, p[1], p._replace(x=5), tuple(p)); x, y = p; print(x, y)
n = {"a": {"b": [1, {"c": 2}]}}; print(n["a"]["b"][1]["c"], n); print({(1, 2): "t", 3.5: None, None: 1, True: 2})
z = {}; print([z.setdefault(k, v) for k, v in (("f", False), ("n", None), ("e", ""))], z.setdefault("u"), z)
