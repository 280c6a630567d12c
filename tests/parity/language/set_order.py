# SPDX-License-Identifier: MIT
# Sets of numbers give their items in the order of CPython's table: as they were
# put in, taken out, merged and made of one another.
import copy
import random

random.seed(11)
for trial in range(60):
    s, log = set(), []
    top = random.choice([10, 60, 10 ** 9, 2 ** 70])
    for step in range(random.randrange(1, 30)):
        r = random.random()
        if r < .55:
            s.add(random.randrange(-top, top))
        elif r < .7 and s:
            log.append(s.pop())
        elif r < .76 and s:
            s.discard(sorted(s)[len(s) // 2])
        elif r < .82:
            s |= {random.randrange(top) for _ in range(4)}
        elif r < .88:
            s ^= set(range(step % 5, step % 9))
        elif r < .92:
            s = s & set(random.sample(range(100), 30)) | s
        elif r < .96:
            s -= {1, 2, 3}
        else:
            s = set(s)
    print(trial, s, log)
a, b = {3, 1, 2}, {10, 20, 30, 1, 17}
print(a, b, set([10, 20, 30, 1, 17]), frozenset(b), a | b, b | a, a & b, b & a)
print(a ^ b, b ^ a, a - b, b - a, {33, 1, 65}, frozenset([33, 1, 65]))
print({1.5, 2, 0.25, True}, {(1, 2), (0, 1), (3,)}, {-1, -2, 5}, {2 ** 61, 1})
for x in {10, 20, 30, 1, 17}:
    print(x, end=" ")
print([x for x in {100, 7, 30, 1, 17}], {x * x % 31 for x in range(12)})
d = {k: 1 for k in (9, 1, 8)}
print(set(d), d.keys() & {8, 9, 1}, d.keys() | {0}, {1, 2, 9}.difference(d),
      {1, 2, 9}.intersection([9, 2]), {1}.symmetric_difference(d))
todo, seen = {0}, []
while todo:
    x = todo.pop()
    seen.append(x)
    if x < 60:
        todo |= {x * 2 + 1, x * 3 + 2}
    if x % 5 == 1:
        todo.add(x + 64)
print(seen)
c = {33, 1, 65}.copy()
print(copy.copy({33, 1, 65, 97}), copy.deepcopy({33, 1, 65, 97}), c.pop(), c)
e = {1}
e.clear()
e.update([64, 8, 0])
print(e, list({"only"}), {None}, frozenset({33, 1}) | {65})
