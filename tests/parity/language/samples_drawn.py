# SPDX-License-Identifier: MIT
# random: the same numbers as CPython draws, wide ones and weighted ones among
# them, and what is refused.
import random
r = random.Random(1234)
print(r.random(), r.randint(1, 100), r.randrange(0, 100, 7), r.choice("abcdef"), r.uniform(-1, 1), r.gauss(0, 1), r.normalvariate(1, 2), r.expovariate(0.5), r.betavariate(2, 3), r.gammavariate(2, 1), r.triangular(0, 1, 0.3), r.lognormvariate(0, 1), r.paretovariate(3), r.weibullvariate(1, 2), r.vonmisesvariate(0, 1), r.getrandbits(40), r.getrandbits(128), r.randbytes(5))
x = list(range(20)); r.shuffle(x); print(x, r.sample(x, 5), r.sample(range(10**9), 3), r.choices([1, 2, 3], k=6), r.choices("abc", weights=[1, 5, 2], k=8), r.choices("abc", cum_weights=[1, 6, 8], k=4), r.sample(["a", "b"], counts=[3, 2], k=4))
st = r.getstate(); a = r.random(); r.setstate(st); print(a == r.random(), st[0], len(st[1]))
random.seed("text"); print(random.random()); random.seed(b"bytes"); print(random.random()); random.seed(3.5); print(random.random()); random.seed(-7); print(random.random()); random.seed(10**30); print(random.random()); random.seed(None); random.seed(0); print(random.random(), random.randint(0, 10**25), random.randrange(10**18, 10**19), random.randint(-5, -5))
for f in (lambda: random.choice([]), lambda: random.sample([1], 2), lambda: random.randint(2, 1), lambda: random.randrange(0), lambda: random.sample({1, 2}, 1), lambda: random.choices([1, 2], weights=[1], k=1), lambda: random.choices([], k=1), lambda: random.randrange(1, 5, 0), lambda: random.choices([1], weights=[0])):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
random.seed(42)
def batches(n, bs):
    idx = list(range(n)); random.shuffle(idx)
    for i in range(0, n, bs): yield idx[i:i + bs]
print(list(batches(10, 3)))
class Net: pass
g = random.Random(); g.seed(5); print(g.random(), isinstance(g, random.Random), [round(g.gauss(mu=0, sigma=2), 6) for _ in range(5)])
class MyR(random.Random):
    def roll(self): return self.randint(1, 6)
m = MyR(9); print([m.roll() for _ in range(10)], m.random())
print(random.binomialvariate(10, 0.3) if hasattr(random, "binomialvariate") else "no")
