# What a class below Counter, OrderedDict, defaultdict or deque has by its own name.
import collections
class C(collections.Counter):
    pass
class O(collections.OrderedDict):
    pass
class D(collections.defaultdict):
    pass
class Q(collections.deque):
    def append(self, v):
        collections.deque.append(self, v * 2)
c = C("hello")
print(C.get(c, "l"), C.most_common(c, 1), C.items(c) == c.items())
o = O(a=1, b=2)
O.move_to_end(o, "a")
print(list(o), O.pop(o, "b"), len(o))
print(O.fromkeys("xy", 1), type(O.fromkeys("xy")).__name__, type(o.fromkeys("z")).__name__)
print(type(D.fromkeys([1])).__name__, D.get(D(int), 3))
q = Q([1])
Q.append(q, 4)
Q.appendleft(q, 0)
print(list(q))
for f in (C.fromkeys, c.fromkeys):
    try:
        f("ab")
    except NotImplementedError as e:
        print(e)
class L(list):
    pass
class I(int):
    pass
for cls in (C, O, D, Q, L, I):
    try:
        cls.none_such
    except AttributeError as e:
        print(e)
    print(cls.__name__, "get" in dir(cls), "popleft" in dir(cls), "copy" in dir(cls))
