# What a comprehension sees, and when it looks; texts and divisions by name.
x = 1
class A:
    x = 2
    items = [1, 2]
    inner = [x for _ in items]
    outer = [i for i in range(x)]
    sums = list(x + i for i in items)
print(A.inner, A.outer, A.sums)
l = [1, 2]
g = (i for i in l)
l = [9]
print(list(g))
try:
    g = (i for i in 5)
except TypeError as e:
    print(e)
print([[i * j for j in range(i)] for i in range(4)], {k: v for k, v in zip("ab", [1, 2])})
print([y for y in [1, 2, 3] if (z := y) > 1], z)
print("%s" % None, "%r and %s" % (None, 1), "%(k)s" % {"k": None})
class D:
    def __divmod__(self, other): return "divmod", other
    def __rdivmod__(self, other): return "rdivmod", other
print(divmod(D(), 1), divmod(1, D()))
f = lambda: (yield 5)
print(list(f()), [h(2) for h in [lambda v: v + 1, lambda v, w=3: v * w]])
