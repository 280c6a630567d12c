# SPDX-License-Identifier: MIT
# Indices and slices at and beyond both ends of sequences of 0 to 4 elements.
import itertools
from lib.answers import answer

ENDS = (None, -6, -3, -1, 0, 1, 2, 6)
STEPS = (None, -2, -1, 1, 2, 3)

for n in (0, 1, 4):
    for make in (list, tuple, lambda r: "".join(map(str, r)), lambda r: r, bytearray):
        s = make(range(n))
        print(n, type(s).__name__, [answer(lambda: s[i]) for i in range(-6, 6)])
        for step in STEPS:
            print(step, [answer(lambda: s[a:b:step]) for a, b in itertools.product(ENDS, ENDS)])
        print(answer(lambda: s[::0]), answer(lambda: s[1.0]), answer(lambda: s["a"]), answer(lambda: s[None]), answer(lambda: s[1, 2]), answer(lambda: s[True:]))


def changed(n, change):
    s = list(range(n))
    got = answer(lambda: change(s))
    return s if got is None else (s, got)


def assign(s, a, b, c, v):
    s[a:b:c] = v


def delete(s, a, b, c):
    del s[a:b:c]


def put(s, i):
    s[i] = 9


def drop(s, i):
    del s[i]


for n in (0, 1, 3):
    print("at", [changed(n, lambda s: put(s, i)) for i in range(-5, 5)])
    print("del", [changed(n, lambda s: drop(s, i)) for i in range(-5, 5)])
    print("insert", [changed(n, lambda s: s.insert(i, 9)) for i in range(-5, 5)])
    print("pop", [changed(n, lambda s: s.pop(i)) for i in range(-5, 5)], changed(n, lambda s: s.pop()))
    print("remove", [changed(n, lambda s: s.remove(i)) for i in range(-1, 5)])
    print("extend", [changed(n, lambda s: s.extend(v)) for v in ([], [7], "ab", range(2), 5, None)])
    print("index", [answer(lambda: list(range(n)).index(v, *r)) for v in (0, 1, 2) for r in ((), (0,), (1,), (2,), (-1,), (-2,), (0, 1), (1, 2), (0, -1), (-9, 9))])
    print("count", [(list(range(n)) * 2).count(v) for v in (0, 1, True, 0.0, "a")])
    print("times", [answer(lambda: list(range(n)) * k) for k in (-1, 0, 1, 2, 1.0, "a")])
    for c in STEPS:
        print("set", c, [changed(n, lambda s: assign(s, a, b, c, v))
                         for a, b in itertools.product((None, -1, 0, 1, 5), (None, -5, -1, 0, 2))
                         for v in ([], [7], "xyz")])
        print("cut", c, [changed(n, lambda s: delete(s, a, b, c)) for a, b in itertools.product(ENDS, ENDS)])
print([slice(a, b, c).indices(n) for a, b in itertools.product(ENDS[::2], ENDS) for c in (None, -2, 1, 3) for n in (0, 1, 4)])

for a, b in itertools.product((-3, -1, 0, 1, 5), repeat=2):
    for c in (-3, -2, -1, 1, 2, 4):
        r = range(a, b, c)
        print(r, len(r), bool(r), list(r), [x in r for x in range(-4, 6)], 1.0 in r, "a" in r,
              answer(lambda: r.index(1)), r.count(0), r[::-1], r[1:], r[-2:], r == range(a, b + 1, c), answer(lambda: (min(r), max(r), sum(r))), list(reversed(r)))
print(answer(lambda: range(0, 1, 0)), answer(lambda: range(1.0)), answer(lambda: range()), answer(lambda: range(1, 2, 3, 4)), range(5) == range(0, 5), hash(range(3)) == hash(range(0, 3, 1)), range(0) == range(2, 2, 5))
