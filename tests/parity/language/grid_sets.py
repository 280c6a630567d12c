# SPDX-License-Identifier: MIT
# Sets, dicts and orders: every pair of small ones, and what changes them.
import itertools
from lib.answers import answer


def told(v):
    return sorted(v, key=repr) if isinstance(v, (set, frozenset)) else v


subsets = [set(c) for n in range(4) for c in itertools.combinations((1, 2, 3), n)]
signs = {
    "|": lambda a, b: a | b, "&": lambda a, b: a & b, "-": lambda a, b: a - b, "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b}
for sign, f in signs.items():
    for a in subsets:
        print(sign, sorted(a), [told(answer(lambda: f(a, b))) for b in subsets + [frozenset((1, 4)), [1], {1: 2}, {1: 2}.keys()]])
for m in ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"):
    print(m, [told(answer(lambda: getattr(a, m)(b))) for a in subsets[:6] for b in ([], [1], "12", (1, 2, 2), {1: 0}, range(3), 5)])
for m in ("update", "intersection_update", "difference_update", "symmetric_difference_update"):
    for a in subsets[:6]:
        for b in ([], [1], [2, 3], [1, 4, 1]):
            c = set(a)
            print(m, sorted(a), b, getattr(c, m)(b), sorted(c))
for m in ("add", "discard", "remove"):
    for a in subsets[:6]:
        for v in (1, 3, 9, [], (1,), 1.0, True):
            c = set(a)
            print(m, answer(lambda: getattr(c, m)(v)), told(c))
for sign in ("|=", "&=", "-=", "^="):
    for a in subsets[:6]:
        for b in subsets[:5]:
            c = d = set(a)
            if sign == "|=": c |= b
            elif sign == "&=": c &= b
            elif sign == "-=": c -= b
            else: c ^= b
            print(sign, sorted(a), sorted(b), sorted(c), c is d)
print(answer(lambda: set().pop()), len(set("aab")), answer(lambda: {[]}), answer(lambda: hash(set())), hash(frozenset((1, 2))) == hash(frozenset((2, 1))), type(frozenset((1,)) | {2}).__name__, type({2} | frozenset((1,))).__name__, {1, 1.0, True}, frozenset(), set())

dicts = [{}, {1: "a"}, {1: "a", 2: "b"}, {2: "b", 1: "a"}, {2: "x"}, {True: "t", 0: "f"}]
for a, b in itertools.product(dicts, dicts):
    c = dict(a)
    c.update(b)
    print(a, b, a == b, a != b, a | b, c, a.keys() & b.keys() == set(a) & set(b), sorted(a.items() - b.items(), key=repr), sorted(map(int, a.keys() ^ b.keys())), a.keys() <= b.keys(), a.items() >= b.items(), a.keys() == b.keys(), a.keys().isdisjoint(b), answer(lambda: a < b))
for d in dicts:
    for k in (1, 2, 0, False, 1.0, "1", None):
        e = dict(d)
        print(k, k in d, d.get(k), d.get(k, 5), answer(lambda: d[k]), answer(lambda: e.pop(k)), e, answer(lambda: e.pop(k, 6)), e.setdefault(k), e.setdefault(k, 7), e, answer(lambda: e.__delitem__(k)), e)
    e = dict(d)
    print(len(d), bool(d), list(d), list(reversed(d)), list(d.values()), answer(e.popitem), e, dict(d.items()) == d, d.copy() is d, str(d), answer(lambda: d[[]]), answer(lambda: [] in d))
for made in (lambda: dict([(1, 2), (1, 3)]), lambda: dict([(1,)]), lambda: dict([1]), lambda: dict(5), lambda: dict({1: 2}, a=3), lambda: dict("ab"), lambda: dict(["ab", "cd"]), lambda: dict.fromkeys("aba"), lambda: dict.fromkeys([1], []), lambda: {**{1: 2}, 1: 3, **{1: 4}}, lambda: {**5}, lambda: dict(a=1, **{"a": 2}), lambda: {1: 1} | [(2, 2)], lambda: dict([(1, 2, 3)])):
    print(answer(made))


def walked(change):
    d = {1: 1, 2: 2, 3: 3}
    seen = []
    for k in d:
        seen.append(k)
        change(d, k)
    return seen, d


print(answer(lambda: walked(lambda d, k: d.update({k: 0}))), answer(lambda: walked(lambda d, k: d.pop(k))), answer(lambda: walked(lambda d, k: d.update({k + 9: 0}))))

words = ["b", "A", "a", "C", "", "aa", "B"]
for key in (None, str.lower, len, lambda s: -len(s), lambda s: 0):
    for reverse in (False, True):
        s = list(words)
        s.sort(key=key, reverse=reverse)
        print(s, sorted(words, key=key, reverse=reverse) == s, max(words, key=key), min(words, key=key))
for values in ([], [1], [2, 1], [1, 1.0, True], [3, "a"], [(1, "b"), (1, "a")], [[2], [1, 9], []], [None, None], [1, float("nan"), 0]):
    print(values, answer(lambda: sorted(values)), answer(lambda: max(values)), answer(lambda: min(values)), answer(lambda: max(values, default=0)), answer(lambda: sum(values)), any(values), all(values), answer(lambda: list(map(lambda a, b: (a, b), values, values[1:]))), list(zip(values, "xy")), list(enumerate(values, 1)), list(reversed(values)), list(filter(None, values)))
print(answer(lambda: max()), answer(lambda: max(1)), max(1, 2.0), max(2.0, 2), min(2, 2.0), answer(lambda: max([1], [2], key=len)), answer(lambda: max(1, 2, default=3)), answer(lambda: sorted([1], key=1)), answer(lambda: list(zip([1], [1, 2], strict=True))), answer(lambda: sum(["a"], "")), sum([[1], [2]], []), sum([0.1] * 10), sum([1, 2.5], 3), answer(lambda: next(iter([]))), next(iter([]), 4), answer(lambda: iter(5)))
for a, b in itertools.product(([], [1], [1, 2], [2], [1, 1.5], ["a"], (1,)), repeat=2):
    print(a, b, [answer(lambda: f(a, b)) for f in list(signs.values())[4:]], answer(lambda: a + b))
