# SPDX-License-Identifier: MIT
"""Where one value more or less changes the answer: empty, one, the last."""
import math
from collections import OrderedDict, deque, Counter, defaultdict


def tried(f, *args, **kw):
    try:
        return f(*args, **kw)
    except Exception as e:
        return type(e).__name__ + ": " + str(e)


# What is read as an item list where none is given.
def several(*a):
    return a


for item in (5, 2.5, True, None, "ab", "", (), [1], {}, {1: 2}, range(0), b"ab"):
    print("rest", repr(item), tried(lambda: several(*item)))
for item in (5, None, {}, {"a": 1}, {1: 2}, [("a", 1)]):
    print("named", repr(item), tried(lambda: dict(**item)))


# tuple() keeps a tuple, and makes one of what only is below tuple.
class Pair(tuple):
    pass


t, p = (1, 2), Pair((1, 2))
print(tuple(t) is t, tuple(p) is p, type(tuple(p)), tuple(p) == p, type(Pair(t)))
print(tuple() == (), tuple([]) == (), list(()) == [], set(()) == set(), len({*()}))

# An order counts between two dicts that keep one, and not against a plain dict.
a, b = OrderedDict(x=1, y=2), OrderedDict(y=2, x=1)
print(a == b, a != b, a == dict(y=2, x=1), dict(y=2, x=1) == a, dict(x=1, y=2) == dict(y=2, x=1))
print(OrderedDict() == {}, {} == OrderedDict(), OrderedDict() == OrderedDict())
for last in (True, False, 1, 0, None):
    d = OrderedDict(a=1, b=2, c=3)
    print(last, d.popitem(last=last), d.popitem(last), list(d))
print(tried(OrderedDict().popitem), tried({}.popitem), tried(set().pop), tried([].pop))
d = OrderedDict(a=1, b=2, c=3)
d.move_to_end("a")
print(list(d), d.move_to_end("c", last=False), list(d), tried(d.move_to_end, "q"))

# Integers, on both sides of what one machine word holds.
edges = [0, 1, -1, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, -2**63,
         -2**63 - 1, 2**64 - 1, 2**64, 10**30, -10**30]
floats = [0.0, -0.0, 0.5, -0.5, 2.0**53, 2.0**63, -2.0**63, 2.0**64, 1e30, math.inf, -math.inf, math.nan]
for x in edges:
    row = [int(x < y) * 4 + int(x == y) * 2 + int(x > y) for y in edges]
    row += [int(x < y) * 4 + int(x == y) * 2 + int(x > y) for y in floats]
    row += [int(y < x) * 4 + int(y >= x) * 2 + int(y != x) for y in floats]
    print(x, "".join(map(str, row)))
for x in edges:
    print(x, tried(lambda: x < "a"), x == "a", x != "a", x == None, tried(lambda: [] <= x))
print([math.lcm(x, 6) for x in (0, 1, -4, 4, 9, 2**40)], math.lcm(), math.lcm(0, 5), math.lcm(7), math.lcm(-7))
print([math.gcd(x, 12) for x in (0, 1, -8, 8, 9, 2**70)], math.gcd(), math.gcd(0), math.gcd(-7), math.gcd(0, 0))
for n in (0, 1, 2, 3, 4, 15, 16, 17, 2**53 - 1, 2**62, 2**63 - 1, 2**64, 10**40, 10**40 - 1, (10**20 + 1)**2 - 1,
          2**999, 2**1000 - 1, 2**1000, 2**1001, (3**700)**2, (3**700)**2 - 1):
    r = math.isqrt(n)
    print(r if r < 10**25 else len(str(r)), r * r <= n < (r + 1) * (r + 1))
for x in edges:
    print(x.bit_length(), x.bit_count(), abs(x).to_bytes(16, "big").hex(), x // 7, x % 7, x // -7, x % -7, ~x, x >> 1,
          x >> 63, x >> 64, x >> 65)
print([tried(int.to_bytes, x, 1, "big") for x in (0, 255, 256, -1)], [x.to_bytes(1, "big", signed=True) for x in (127, -128)],
      tried((128).to_bytes, 1, "big", signed=True), tried((-129).to_bytes, 1, "big", signed=True))
print([round(x) for x in (0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994)], [round(x, -1) for x in (5, 15, 25, -5, 4, 6)])
print([divmod(x, y) for x in (-7, 7, -6, 0) for y in (3, -3)], [divmod(x, 2.5) for x in (-5.0, 5.0, -0.0, 4.9)])
print([tried(pow, 2, e, m) for e in (0, 1, 62, 63, 64, -1) for m in (1, 7, -7)], tried(pow, 2, -1, 4), tried(pow, 0, -1))
print([tried(int, s, b) for s in ("0", "-0", "1_0", "_1", "1__0", "", " 7 ", "z", "0x1f") for b in (0, 10, 36)])
print([tried(int, "1", b) for b in (-1, 0, 1, 2, 36, 37)], [tried(chr, n) for n in (-1, 0, 0x10ffff, 0x110000)])

# Slices, and the places at the ends of a sequence.
for s in ("", "a", "abcde"):
    for i in (None, -7, -6, -5, -1, 0, 1, 4, 5, 6):
        print(repr(s), i, repr(s[i:]), repr(s[:i]), repr(s[::-1][i:]), repr(s[i::2]), repr(s[i::-2]),
              tried(lambda: s[i]) if i is not None else "")
for n in (0, 1, 2, 5):
    print(n, [slice(x, y, z).indices(n) for x in (None, -1, 0, 9) for y in (None, -1, 9) for z in (None, -1, 2)])
    print(len(range(0, n, 3)), list(range(n, -1, -2)), n in range(0, n), n - 1 in range(0, n), range(n)[:-1], range(0, n) == range(0, n, 1))
x = [0, 1, 2, 3]
x.insert(-9, "a"); x.insert(99, "z"); x.insert(-1, "y")
print(x, tried(x.index, 0, 2), tried(x.index, 3, -3), tried(x.remove, 77), x.pop(-7), tried(x.pop, 7), tried(x.pop, -7))
x[1:1] = "bc"; x[4:2] = [9]; x[-1:] = []
print(x, tried(x.__setitem__, slice(0, 4, 2), [1]), x[:0], x * 0, x * -1)
q = deque([1, 2, 3], 3)
q.append(4); q.rotate(4)
print(q, deque([1], 0), deque([1, 2], 1), tried(q.insert, 1, 0), q.index(3), tried(deque([1]).remove, 2), deque() == deque([], 2))
print(Counter("aab") - Counter("abb"), Counter("aab") & Counter("abb"), Counter("aab") | Counter("abb"), +Counter(a=0, b=-1, c=1),
      Counter("aab").most_common(0), Counter("aab").most_common(1), Counter("ab").most_common(9), Counter() <= Counter("a"))

# Texts: what is found at the ends, and how often.
for s in ("", "a", "aa", "abab"):
    for w in ("", "a", "ab", "b", "abc"):
        print(repr(s), repr(w), s.find(w), s.rfind(w), s.count(w), s.startswith(w), s.endswith(w), s.find(w, 1), s.find(w, len(s)),
              s.find(w, len(s) + 1), s.replace(w, "-"), s.replace(w, "-", 1), s.replace(w, "-", 0), tried(s.split, w), tried(s.rsplit, w, 1),
              s.partition(w) if w else "", s.rpartition(w) if w else "", s.removeprefix(w), s.removesuffix(w))
for w in (0, 1, 2, 3, 4):
    print("ab".center(w, "*"), "abc".center(w + 2, "*"), "ab".ljust(w, "."), "ab".rjust(w, "."), "-1".zfill(w), "+".zfill(w), "".zfill(w))
print(" a  b ".split(), " a  b ".split(None, 0), " a  b ".split(None, 1), " a  b ".rsplit(None, 1), "a\n\nb\r\nc\r".splitlines(),
      "a\n".splitlines(True), "".splitlines(), "\n".splitlines(), "a\tb".expandtabs(1), "a\tb".expandtabs(0), "ab\tc".expandtabs(2))
marks = [c for c in range(0x3100) if not 0xd800 <= c < 0xe000]
for kind in ("isalpha", "isdecimal", "isdigit", "isnumeric", "isspace", "isupper", "islower", "istitle", "isprintable",
             "isidentifier", "isalnum"):
    held = [c for c in marks if getattr(chr(c), kind)()]
    print(kind, len(held), sum(held), held[:3], held[-2:])

# Generators: what is thrown in and what comes out.
def echo():
    got = None
    while True:
        try:
            got = yield got
        except (ValueError, KeyError) as e:
            got = (type(e).__name__, e.args)


g = echo()
next(g)
print(g.throw(ValueError), g.throw(ValueError, "v"), g.throw(ValueError, (1, 2)), g.throw(ValueError, ()), g.throw(KeyError("k")),
      g.throw(ValueError, None), g.throw(ValueError, ValueError("w")))
print(g.send(3), g.close(), tried(next, g), tried(g.send, None), g.close())
g = echo()
print(tried(g.send, 1), g.send(None), tried(g.throw, 5))
print(sum([]), sum([], 5), min([], default=3), tried(min, []), tried(max, ()), all([]), any([]), list(zip()), list(zip([], [1])),
      tried(lambda: list(zip([1], [], strict=True))), tried(lambda: list(zip([1], [1, 2], strict=True))), list(enumerate("", 1)),
      list(map(max, [], [])), sorted([]), list(reversed([])))
e = defaultdict(list)
print(e.get("a"), len(e), e["a"], len(e), "b" in e, tried(defaultdict().__getitem__, "a"), e.pop("a"), tried(e.pop, "a"))
