# SPDX-License-Identifier: MIT
# Keys that go from the front of dicts and sets, and what is left.
d = {i: i for i in range(50)}
for i in range(20): del d[next(iter(d))]
print(list(d)[:3], len(d))
d[5] = 1
print(list(d)[-2:])
for k in list(d): d.pop(k)
print(d, list(d)); d["x"] = 2; print(d)
s = set(range(40))
n = 0
while s:
    s.discard(min(s)); n += 1
print(n, s)
e = dict.fromkeys("abc"); it = iter(e); next(it); del e["a"]
try: next(it)
except RuntimeError as x: print(x)
