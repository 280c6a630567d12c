# SPDX-License-Identifier: MIT
import functools, contextlib, itertools, operator
from functools import *
@lru_cache(maxsize=2)
def sq(x): print("c", x); return x * x
print(sq(2), sq(2), sq(3), sq(4), sq(2), sq.cache_info()); sq.cache_clear(); print(sq.cache_info(), sq.__wrapped__(5), sq.cache_parameters())
@cache
def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
print(fib(90))
def deco(n=1):
    def w(f):
        @wraps(f)
        def g(*a, **k): return f(*a, **k) * n
        return g
    return w
@deco(n=3)
def foo(x: int) -> int:
    "doc"
    return x
print(foo(2), foo.__name__, foo.__doc__, foo.__wrapped__(2), foo.__qualname__)
p = partial(int, base=2); print(p("101"), p.func, p.keywords, p.args, repr(partial(foo, 1))[:25])
class C:
    def __init__(s): s.n = 0
    @cached_property
    def v(s): s.n += 1; return s.n
    def m(s, a, b): return (a, b)
    half = partialmethod(m, 1)
c = C(); print(c.v, c.v, c.n, c.half(2))
@singledispatch
def show(x): return "obj"
@show.register
def _(x: int): return "int"
@show.register(list)
def _(x): return "list"
@show.register(str)
def show_str(x): return "s"
print(show(3), show([]), show(2.0), show(True), show.dispatch(int)(1), show_str("a"), show("q"))
@total_ordering
class V:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == o.v
    def __lt__(s, o): return s.v < o.v
print(V(1) <= V(2), V(1) >= V(2), V(2) > V(1), sorted([3,1,2], key=cmp_to_key(lambda a, b: b - a)), reduce(operator.add, [1,2,3], 10))
class SD:
    @singledispatchmethod
    def f(self, x): return "base"
    @f.register
    def _(self, x: int): return "i"
print(SD().f(1), SD().f("a"))
@contextlib.contextmanager
def cm(n):
    print("in", n)
    try: yield n
    except KeyError as e: print("caught", e)
    finally: print("out", n)
with cm(1) as a, cm(2) as b: print(a, b); raise KeyError("k")
with contextlib.ExitStack() as st:
    st.enter_context(cm(3)); st.callback(print, "cb"); st.push(lambda *a: print("push", a[0]))
with contextlib.suppress(ZeroDivisionError): 1/0
import io
with contextlib.redirect_stdout(io.StringIO()) as f: print("hid")
print(repr(f.getvalue()))
@cm(7)
def h(): print("body")
h()
with contextlib.nullcontext(5) as n: print(n)
with contextlib.closing(io.StringIO()) as q: pass
print(q.closed)
class CD(contextlib.ContextDecorator):
    def __enter__(s): print("e"); return s
    def __exit__(s, *a): print("x"); return True
@CD()
def boom(): raise ValueError
print(boom())
print(list(itertools.chain.from_iterable([[1],[2]])), list(itertools.islice(itertools.count(5,2), 3)), list(itertools.product("ab", repeat=2))[:3], list(itertools.combinations(range(4), 2))[-1], list(itertools.permutations("abc", 2))[:2], [(k, list(g)) for k, g in itertools.groupby("aabc")], list(itertools.accumulate([1,2,3], operator.mul, initial=1)), list(itertools.zip_longest([1],[2,3], fillvalue=0)), list(itertools.pairwise([1,2,3])), list(itertools.starmap(pow, [(2,3)])), list(itertools.takewhile(lambda x: x<2,[1,2,1])), list(itertools.compress("abc",[1,0,1])))
a, b = itertools.tee([1,2,3]); next(a); print(list(a), list(b), list(itertools.filterfalse(None, [0,1])), list(itertools.repeat(3,2)), list(itertools.combinations_with_replacement("ab",2)))
print(operator.itemgetter(1, 0)([5, 6]), operator.attrgetter("a.b")(type("X", (), {"a": type("Y", (), {"b": 3})})), operator.methodcaller("upper")("q"))
