# What dir() tells of values, classes and scopes.
import collections
import math
class A:
    """doc"""
    x = 1
    def m(self): pass
    @property
    def p(self): return 1
class B(A, dict):
    __slots__ = ("s",)
    def _q(self): pass
class S:
    __slots__ = ("a", "b")
a = A(); a.y = 2; a._z = 3
P = collections.namedtuple("P", "u v")


def f(): pass
for v in (a, A, B, B(), S, S(), 5, 2.5, True, "s", b"s", [], (), {}, set(), None, f, a.m, range(3), P, P(1, 2), ValueError("x"), collections.Counter(), collections.deque(), collections.defaultdict(int), int, dict, (i for i in ()), object(), iter([]), 2j, slice(1), frozenset()):
    print(type(v).__name__, [n for n in dir(v) if not n.startswith("_")])
    print([n for n in dir(v) if n[:1] == "_" and n[:2] != "__" and n != "_keep_positive"])
print("pi" in dir(math), [n for n in dir(math) if not n.startswith("_")])
class E(ValueError):
    def __init__(self, code): self.code = code
print([n for n in dir(E(3)) if not n.startswith("_")])
def g(u, v=2):
    w = 1
    return dir()
print(g(1))
class Z:
    def __dir__(self): return ["b", "a"]
print(dir(Z()))
OF_ALL = set("""__class__ __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__ __gt__
  __hash__ __init__ __init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__
  __str__ __subclasshook__ __weakref__""".split())
for v in (A, a, S(), [], {}, 1, "s", object()):
    print(sorted(set(n for n in dir(v) if n.startswith("__")) - OF_ALL))
# What it tells can be had.
for v in (A, a, B, B(), S, S(), E, E(3), ValueError, ValueError("x"), object()):
    print([n for n in dir(v) if not hasattr(v, n) and n not in ("a", "b", "s")])
