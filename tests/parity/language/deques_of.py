# SPDX-License-Identifier: MIT
# Deques of a greatest length, what joins them, and sequences that are searched.
from collections import deque

q = deque([1, 2, 3], maxlen=3)
q.extend([7, 8])
print(q)
q.extendleft([9, 4])
print(q, q + deque("ab"), q * 2, deque("ab") + deque("c"), deque("ab") * 2)
q += [5, 6]
print(q, q.maxlen, q.copy().maxlen, type(q + q).__name__)
z = deque(maxlen=0)
z.append(1)
z.appendleft(2)
z.extend("ab")
print(z, len(z))
for name in ("pop", "popleft"):
    try:
        getattr(z, name)()
    except IndexError as e:
        print(e)
try:
    q + [1]
except TypeError as e:
    print(e)


class Even:
    def __eq__(self, other):
        return other % 2 == 0


mixed = [1, "1", 2.0, True, None, (1,), Even(), 10**20]
for v in (1, 2, "1", 2.0, None, (1,), (1.0,), True, 4, 10**20, "x", 1e20):
    try:
        print(v, v in mixed, mixed.count(v), mixed.index(v))
    except (ValueError, TypeError) as e:
        print(type(e).__name__)
print([1, "a", 2.0] == [True, "a", 2], [1, "a"] == [1, "b"], [1] == ["1"])
print(sorted([(2, "b"), (2, "a"), (1, "z"), (True, "y")]),
      sorted([[1, 2], [1], [1, 1.5]], reverse=True), list(range(9))[::-2])
