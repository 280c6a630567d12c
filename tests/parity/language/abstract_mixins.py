# SPDX-License-Identifier: MIT
# What the abstract classes of collections.abc give to classes below them.
from collections.abc import (Callable, Generator, Hashable, ItemsView, Iterable, Iterator, KeysView, Mapping,
                             MutableMapping, MutableSequence, MutableSet, Sequence, Set, Sized)
import typing


class Registry(MutableMapping):
    def __init__(self, *pairs): self.held = dict(pairs)
    def __getitem__(self, key): return self.held[key]
    def __setitem__(self, key, value): self.held[key] = value
    def __delitem__(self, key): del self.held[key]
    def __iter__(self): return iter(self.held)
    def __len__(self): return len(self.held)


r = Registry(("a", 1))
r.update(b=2, c=3)
r.update({"d": 4})
r.update([("e", 5)])
print(list(r), list(r.items()), list(r.values()), r.pop("a"), r.get("zz", 5), r.get("b"), r.setdefault("q", 9))
print("b" in r, "zz" in r, ("b", 2) in r.items(), 3 in r.values(), r.keys() & {"b", "zz"}, len(r.items()), r.popitem())
try:
    r.pop("zz")
except KeyError as e:
    print("no", e)
print(r.pop("zz", None), r == dict(r), r == 3, isinstance(r, Mapping), issubclass(Registry, typing.Mapping))
print([c.__name__ for c in Registry.__mro__], isinstance(r.keys(), KeysView), isinstance(r.items(), ItemsView))
r.clear()
print(len(r), bool(r), dict(**Registry(("k", 1))), {**Registry(("k", 2))})


class Row(Sequence):
    def __init__(self, *items): self.items = items
    def __getitem__(self, i): return self.items[i]
    def __len__(self): return len(self.items)


s = Row(3, 1, 2, 1)
print(list(s), s.index(1), s.index(1, 2), s.count(1), 2 in s, 9 in s, list(reversed(s)), s[1:], sorted(s))
try:
    s.index(9)
except ValueError as e:
    print("absent", e)


class Stack(MutableSequence):
    def __init__(self): self.items = []
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, i, v): self.items[i] = v
    def __delitem__(self, i): del self.items[i]
    def __len__(self): return len(self.items)
    def insert(self, i, v): self.items.insert(i, v)


t = Stack()
t.append(1)
t.extend([2, 3, 4])
t += [5]
t.reverse()
t.remove(3)
print(t.items, t.pop(), t.pop(0), t.items, len(t))
t.clear()
print(t.items)


class Bag(MutableSet):
    def __init__(self, items=()): self.items = list(dict.fromkeys(items))
    def __contains__(self, x): return x in self.items
    def __iter__(self): return iter(self.items)
    def __len__(self): return len(self.items)
    def add(self, x):
        if x not in self.items: self.items.append(x)
    def discard(self, x):
        if x in self.items: self.items.remove(x)
    def __repr__(self): return f"Bag({self.items})"


b = Bag("abc")
print(b & Bag("bcd"), b | "de", b - {"a"}, b ^ Bag("ax"), {"a", "z"} - b, b <= Bag("abcd"), b < b, b == {"a", "b", "c"},
      b.isdisjoint("xy"), b >= Bag("a"))
b |= {"d"}
b -= {"a"}
b &= {"b", "d"}
b ^= {"d", "e"}
print(b, b.pop(), b)
try:
    b.remove("zz")
except KeyError as e:
    print("no", e)


class Count(Iterator):
    def __init__(self): self.n = 0
    def __next__(self):
        self.n += 1
        if self.n > 2: raise StopIteration
        return self.n


print(list(Count()), iter(c := Count()) is c)


class Half(Mapping):
    def __len__(self): return 0


for cls in (Half, Bag):
    try:
        print(cls())
    except TypeError as e:
        print(str(e).replace("collections.abc.", ""))
print(Half.__abstractmethods__ == frozenset({"__getitem__", "__iter__"}))
print(isinstance(len, Callable), isinstance([], Hashable), isinstance(3, Sized), isinstance("", Iterable), isinstance(set(), Set))
