# SPDX-License-Identifier: MIT
# functools, itertools, operator and contextlib: what they give and refuse.
import functools, itertools, operator
from functools import *
def section(n): print("==",n)
@lru_cache(maxsize=2)
def f(x, y=1): print("run", x, y); return x+y
f(1); f(1); f(2); f(3); f(1); f(x=1); print(f.cache_info()); f.cache_clear(); print(f.cache_info(), f.cache_parameters(), f.__wrapped__.__name__, f.__name__, f.__module__)
print(type(f.cache_info()).__name__, f.cache_info()._fields)
@lru_cache
def g(a): return a
print(g(1), g(1.0), g("1"), g.cache_info())
@lru_cache(typed=True)
def g(a): return a
g(1); g(1.0); print(g.cache_info())
@cache
def fib(n): return n if n<2 else fib(n-1)+fib(n-2)
print(fib(80), fib.cache_info())
try: g([])
except TypeError as e: print(e)
p=partial(int, base=2); print(p("101"), p, p.func, p.args, p.keywords, partial(p, "11")())
class A:
    def m(self, a, b=0): return (a,b)
    pm=partialmethod(m, 5)
    @cached_property
    def cp(self): print("calc"); return 42
    @singledispatchmethod
    def sd(self, x): return "base"
    @sd.register
    def _(self, x: int): return "int"
    @sd.register(str)
    def _(self, x): return "str"
    @singledispatchmethod
    @classmethod
    def sc(cls, x): return (cls.__name__, "b")
    @sc.register
    @classmethod
    def _(cls, x: int): return (cls.__name__, "i")
a=A(); print(a.pm(b=3), a.cp, a.cp, a.__dict__, type(A.cp).__name__, a.sd(1), a.sd("q"), a.sd(2.5), A.sc(1), a.sc("x"))
del a.cp; print(a.cp)
@singledispatch
def sd(x, *a): return "obj"
@sd.register
def _(x: int): return "int"
@sd.register(list)
@sd.register(tuple)
def _(x): return "seq"
@sd.register
def _(x: "float"): return "float"
import collections.abc as abc
@sd.register(abc.Mapping)
def _(x): return "mapping"
@sd.register
def _(x: str | bytes): return "text"
@sd.register(type(None))
def _(x): return "none"
class MyInt(int): pass
for v in (1, True, [], (), 1.5, {}, "a", b"", None, set(), MyInt(3)): print(v, sd(v), end="; ")
print(); print(sd.dispatch(bool) is sd.registry[int], sorted(k.__name__ for k in sd.registry if hasattr(k,"__name__")))
try: sd()
except TypeError as e: print(e)
try: sd.register(3)
except TypeError as e: print(str(e)[:40])
try:
    @sd.register
    def _(x): pass
except TypeError as e: print(str(e)[:38])
try:
    sd.register(list[int], lambda x: 1)
except TypeError as e: print(e)
def deco(fn):
    @wraps(fn)
    def inner(*a, **k):
        "inner doc"
        return fn(*a, **k)
    return inner
@deco
def doc(a: int, b: str = "x") -> float:
    "the doc"
    return a
doc.extra=3
print(doc.__name__, doc.__doc__, doc.__annotations__, doc.__wrapped__.__defaults__, doc.__qualname__, doc.__dict__.keys(), doc.__module__)
w=deco(doc); print(w.extra, w.__wrapped__ is doc)
@wraps(doc, assigned=("__doc__",), updated=())
def w2(): pass
print(w2.__name__, w2.__doc__, w2.__dict__.keys())
print(reduce(operator.add, [1,2,3]), reduce(operator.mul, [], 7), reduce(lambda a,b: a+b, "abc"))
try: reduce(operator.add, [])
except TypeError as e: print(e)
@total_ordering
class V:
    def __init__(s,v): s.v=v
    def __eq__(s,o): return s.v==o.v
    def __lt__(s,o): return s.v<o.v
print(V(1)<=V(1), V(2)>V(1), V(1)>=V(2), V(1)!=V(2))
print(sorted([3,1,2], key=cmp_to_key(lambda a,b: b-a)))
section("itertools")
I=itertools
def L(x, n=10): return list(I.islice(x, n))
print(L(I.count(5,-2),4), L(I.count(0.5,0.25),3), L(I.cycle("ab"),5), L(I.repeat(7,3)), list(I.accumulate([1,2,3])), list(I.accumulate([3,1,2],max,initial=0)), list(I.chain("ab",[1])), list(I.chain.from_iterable(["ab","c"])), list(I.compress("abcd",[1,0,1,0])), list(I.dropwhile(lambda x:x<3,[1,3,2])), list(I.takewhile(lambda x:x<3,[1,3,2])), list(I.filterfalse(None,[0,1,2])), [(k,list(v)) for k,v in I.groupby("aabbc")], [(k,list(v)) for k,v in I.groupby([1,3,2,4],key=lambda x:x%2)], list(I.pairwise("abcd")), list(I.product("ab",[1,2])), list(I.product([0,1],repeat=2)), list(I.permutations("abc",2)), list(I.combinations("abcd",2)), list(I.combinations_with_replacement("ab",2)), list(I.starmap(pow,[(2,3),(3,2)])), list(I.zip_longest("abc","x",fillvalue="-")), [list(t) for t in I.tee([1,2,3],2)], list(I.islice("abcdef",1,None,2)))
print(I.count(3), I.count(1,2), I.repeat(1,2), I.repeat("a"), type(I.chain()), I.cycle)
it=I.count(); next(it); print(it)
a,b=I.tee(iter([1,2,3])); print(next(a), list(b), list(a))
gb=I.groupby("aab"); k,grp=next(gb); k2,g2=next(gb); print(list(grp), list(g2))
for bad in ("I.islice([1],-1)", "I.product([1],repeat=-1)", "I.permutations([1],-1)", "I.count('a')", "next(I.islice([1], 0))", "I.accumulate(1)","I.chain(1).__next__()","I.tee([],-1)","I.pairwise(1)"):
    try: print(bad, eval(bad))
    except BaseException as e: print(bad, type(e).__name__, e)
section("operator")
print(operator.itemgetter(1,2)("abc"), operator.attrgetter("real")(3), operator.methodcaller("upper")("a"), operator.itemgetter(slice(1,3))("abcd"), operator.index(True), operator.truth([]), operator.concat("a","b"), operator.countOf([1,1],1), operator.indexOf([1,2],2), operator.xor(5,1), operator.matmul, operator.itemgetter(1), operator.attrgetter("a.b"), operator.methodcaller("f",1,k=2), operator.length_hint([1]), operator.iadd([1],[2]), operator.call(int,"3"), operator.is_not(1,None), operator.contains([1],1), operator.__lt__(1,2), operator.pos(True), operator.inv(3), operator.setitem)
section("contextlib")
import contextlib
from contextlib import *
@contextmanager
def cm(x):
    print("in", x)
    try: yield x*2
    except ValueError as e: print("caught", e)
    finally: print("out")
with cm(2) as v: print(v)
with cm(3): raise ValueError("q")
try:
    with cm(4): raise KeyError("z")
except KeyError as e: print("K", e)
@cm(9)
def decorated(): print("body")
decorated(); decorated()
with suppress(KeyError, ZeroDivisionError): 1/0
with ExitStack() as st:
    st.enter_context(cm(1)); st.callback(print, "cb", 1); st.push(lambda *e: print("push", e[0]) or True)
    raise RuntimeError("x")
print("after")
with nullcontext(5) as n: print(n)
class C:
    def close(self): print("closed")
with closing(C()): pass
import io
buf=io.StringIO()
with redirect_stdout(buf): print("hidden")
print(repr(buf.getvalue()))
class CD(ContextDecorator):
    def __enter__(s): print("E"); return s
    def __exit__(s,*e): print("X", e[0]); return False
@CD()
def fn(): return 3
print(fn())
@contextmanager
def none(): 
    if 0: yield
try:
    with none(): pass
except RuntimeError as e: print(e)
@contextmanager
def two(): yield 1; yield 2
try:
    with two(): pass
except RuntimeError as e: print(e)
try:
    with 3: pass
except TypeError as e: print(e)
class NoExit:
    def __enter__(s): pass
try:
    with NoExit(): pass
except TypeError as e: print(e)
with (cm(1) as a, cm(2) as b): print(a,b)
