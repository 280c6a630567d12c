# Lists and deques whose front is taken are lists and deques.
from collections import deque


def drive(q, left, right, rounds):
    """The same steps of a list and a deque."""
    seen = []
    for k in range(rounds):
        seen.append(left(q))
        q.append(k)
        if k % 3 == 0:
            right(q, -k)
        if k % 97 == 0:
            seen.append(sum(q) + len(q) + q[0] + q[-1] + q[len(q) // 2])
    return seen


a, b = list(range(200)), deque(range(200))
x = drive(a, lambda q: q.pop(0), lambda q, v: q.insert(0, v), 1000)
y = drive(b, lambda q: q.popleft(), lambda q, v: q.appendleft(v), 1000)
print(x == y, len(a), len(b), list(b) == a, sum(a), a[:3], a[-3:])
a.pop(0)
print(a == list(b)[1:], a.index(999), 999 in a, a.count(998), max(a), sorted(a)[:4])
del a[0]
a[0] = "first"
a[5:8] = ["x"]
print(a[:8], a.pop(), a.pop(3), len(a))
c = a.copy()
a.reverse()
print(c[::-1] == a, c + [1] == a[::-1] + [1], [*c][:2])
while len(c) > 3:
    c.pop(0)
print(c, repr(c), c * 2)
print([v for v in b if v % 250 == 0], "".join(str(v) for v in list(b)[:5]))
d = deque(range(100), maxlen=100)
for k in range(150):
    d.append(k)
print(d[0], d[-1], len(d), d.maxlen)
for k in range(30):
    d.appendleft(-k)
print(d[0], d[-1], len(d))
d.extend([7, 8, 9])
print(d[0], d[-1], len(d))
for by in (1, -1, 13, -57, 1000, 0):
    d.rotate(by)
    print(d[0], d[-1], end=" ")
print()
d.extendleft("abc")
print(list(d)[:4], d.index(9), d.count(8))
d.reverse()
print(list(d)[:4])
d.clear()
print(d, len(d))
for name, act in [("append", lambda q: q.append(1)), ("popleft", lambda q: q.popleft()),
                  ("rotate", lambda q: q.rotate(1)), ("clear", lambda q: q.clear())]:
    q = deque(range(50))
    try:
        for v in q:
            act(q)
        print(name, "went on")
    except RuntimeError as e:
        print(name, e)
q = deque([True, None, False] * 20)
got = []
while q:
    got.append(q.popleft())
print(got.count(None), got.count(False), len(got), q)
big = list(range(40000))
n = 0
while big:
    n += big.pop(0)
print(n)
line = deque(range(40000))
for _ in range(80000):
    line.append(line.popleft())
print(line[0], line[39999])
for wrong in (lambda: [].pop(0), lambda: deque().popleft(), lambda: [1].pop(5),
              lambda: [].insert(10 ** 30, 1), lambda: [1].pop(10 ** 30)):
    try:
        wrong()
    except Exception as e:
        print(type(e).__name__, e)
