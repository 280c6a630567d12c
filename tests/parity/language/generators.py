# SPDX-License-Identifier: MIT
def gen():
    x = yield 1
    print("got", x)
    try:
        y = yield 2
    except ValueError as e:
        print("caught", e); y = None
    finally:
        print("fin")
    return 10
g = gen()
print(next(g), g.send("a"))
try: g.throw(ValueError("v"))
except StopIteration as e: print("stop", e.value)
def outer():
    r = yield from gen()
    yield ("r", r)
print(list(outer()))
def inf():
    i = 0
    while True:
        yield i; i += 1
import itertools
print(list(itertools.islice(inf(), 3)))
g = inf(); next(g); g.close()
try: next(g)
except StopIteration: print("closed")
def cleanup():
    try: yield 1
    finally: print("cleaned")
g = cleanup(); next(g); g.close()
print(sum(x*x for x in range(4)))
class It:
    def __init__(self, n): self.n = n
    def __iter__(self):
        for i in range(self.n): yield i
print(list(It(3)), sum(It(4)), max(It(3)), [*It(2)], tuple(It(2)), dict(enumerate(It(2))), sorted(It(3), reverse=True))
a, *b = It(4); print(a, b)
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        yield a
        a, b = b, a + b
print(*fib(10), sep=",")
print(type(fib(1)).__name__, next(fib(0), "none"))
it = iter([1,2,3]); print(next(it), list(it), list(it))
def bad():
    yield 1
    raise KeyError("k")
try: list(bad())
except KeyError as e: print("KE", e)
def r():
    return
    yield
print(list(r()))
print(list(map(lambda a, b: a+b, [1,2],[3,4])), list(filter(None, [0,1,2])), any(x > 2 for x in [1,2,3]), all([]))
gg = (i for i in range(3)); print(next(gg), next(gg), next(gg), next(gg, None))
print(list(iter(lambda it=iter([1,2,0]): next(it), 0)))
