"""random seeded by texts; what a named tuple says of itself."""
import random
for s in ("s", "", "naïve text", b"bytes", bytearray(b"x"), 5, -5, 10**30, "a" * 300, True):
    random.seed(s)
    print(random.random(), random.Random(s).randint(0, 10**6), random.getrandbits(70))
from collections import namedtuple
P = namedtuple("P", "x y", defaults=[1])
print(P.__doc__, P(3).__doc__)
class Q(namedtuple("Q", "a")):
    "own"
print(Q.__doc__, Q(1))
