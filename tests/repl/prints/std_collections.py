# SPDX-License-Identifier: MIT
from collections import *
from collections import abc
c = Counter("mississippi"); print(c, c.most_common(2), c["z"], sorted(c.elements()), c + Counter("ss"), c - Counter("ss"), c & Counter("sp"), c | Counter("zz"), +c, c.total())
c.update("aa"); c.subtract("m"); print(c, dict(c)); del c["a"]; print(c == Counter({"i": 4, "s": 4, "p": 2, "m": 0}))
d = defaultdict(lambda: defaultdict(int)); d["a"]["b"] += 1; print(d["a"], dict(d["a"]), "x" in d, defaultdict(list, a=[1]))
q = deque([1, 2, 3], maxlen=3); q.append(4); q.appendleft(0); q.rotate(1); print(q, q[0], q.maxlen, list(reversed(q)), q.index(2), 3 in q, q.popleft(), q.pop()); q.extend([7,8]); q.extendleft([9]); print(q, q.count(9), q == deque([9,2,7]), q.copy())
Pt = namedtuple("Pt", "x y z", defaults=[5]); p = Pt(1, y=2); print(p, p._asdict(), p._replace(x=9), Pt._fields, Pt._make([1,2,3]), p == (1,2,5), p.x + p[1], Pt._field_defaults)
try: Pt(1)
except TypeError as e: print(e)
o = OrderedDict(a=1, b=2); o.move_to_end("a"); print(o, o.popitem(last=False), list(o), OrderedDict(a=1,b=2) == OrderedDict(b=2,a=1))
m = ChainMap({"a": 1}, {"a": 2, "b": 3}); print(m["a"], m["b"], dict(m), m.new_child({"c": 4}), m.maps, len(m))

