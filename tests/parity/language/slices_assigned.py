# SPDX-License-Identifier: MIT
# Slices of lists that are assigned and deleted, drawn; and of a list longer
# than Lua hands over at once.
import random
random.seed(1)
for case in range(400):
    l = list(range(random.randint(0, 8))); b = lambda: random.choice([None, *range(-10, 11)])
    s = slice(b(), b(), random.choice([None, None, 1, 1, -1, 2, -3]))
    x = random.choice([[], [9], (8, 7), "ab", range(3), [5] * 6, l])
    for op in (0, 1):
        m = l if x is l else l[:]
        try:
            if op: m[s] = x
            else: del m[s]
            print(m)
        except ValueError as e: print(e)
        m = None
        if x is l: break

n = 1200000
long = list(range(n))
x = long.copy()
x[:0] = [7]
x[5:10] = []
print(len(x), x[:6], x[-1])
y = bytearray(n)
y[3] = 1
print(y[:5], len(y))
import statistics
print(statistics.harmonic_mean([40, 60]), statistics.linear_regression(
    [1, 2, 3], [2, 4, 6]))
