# What functions and classes say of themselves; delegation; copies of kinds.
import copy
import functools
import inspect
from typing import NamedTuple, Protocol, get_type_hints, runtime_checkable
def f(a, b=2, *args, c, d: int = 4, **kw) -> str:
    """Some text."""
def g(a, /, b, *, c=None): yield a
print(inspect.signature(f), inspect.signature(g))
for p in inspect.signature(f).parameters.values():
    print(p.name, p.kind == p.KEYWORD_ONLY, p.default is p.empty, p)
class C:
    """A class."""
    limit = 3
    def __init__(self, x, y=1): pass
    def method(self, z): pass
print(inspect.signature(C), inspect.signature(C(1).method), C.__doc__, f.__doc__)
print(inspect.isfunction(f), inspect.isclass(C), inspect.ismethod(C(1).method),
      inspect.isgeneratorfunction(g), inspect.isbuiltin(len),
      inspect.getdoc(f), inspect.getfullargspec(f).args)
bound = inspect.signature(g).bind(1, b=2)
print(bound.arguments, bound.args, bound.kwargs)
try:
    inspect.signature(g).bind(1)
except TypeError as e:
    print(e)
@functools.wraps(f)
def wrapper(*a): pass
print(inspect.signature(wrapper), inspect.unwrap(wrapper) is f)
print([n for n in C.__dict__ if not n.startswith("__")])
C.later = 5
print("later" in C.__dict__, "method" in C.__dict__, "nothing" in C.__dict__)
p = functools.partial(int, base=2)
print(p("101"), p.func, p.args, p.keywords, p, type(p).__name__)
def inner():
    try:
        x = yield 1
        print("sent", x)
        yield 2
    except ValueError as e:
        print("inner", e)
        yield 3
    return "done"
def outer():
    try:
        print("result", (yield from inner()))
    finally:
        print("outer ends")
it = outer()
print(next(it), it.send("hello"), it.throw(ValueError("oops")))
print(list(it))
it = outer()
next(it)
it.close()
class D(dict): pass
class S(str): pass
d = D(a=[1])
d.mark = [2]
e, s = copy.deepcopy(d), copy.copy(d)
print(type(e).__name__, e, e.mark, e.mark is d.mark, s.mark is d.mark, s["a"] is d["a"])
t = copy.copy(S("text"))
print(type(t).__name__, t)
class Closer(Protocol):
    def close(self): ...
@runtime_checkable
class Opener(Protocol):
    def open(self): ...
try:
    isinstance(3, Closer)
except TypeError as e:
    print(e)
class Door:
    def open(self): pass
print(isinstance(Door(), Opener), isinstance(3, Opener))
class Point(NamedTuple):
    x: int
    y: float = 0.0
print(get_type_hints(Point))
