# functools: what follows from one order, methods with arguments given, caches of methods, dispatch.
import functools
def capture(*a, **k): return a, k
class A:
    n = functools.partialmethod(capture)
    p = functools.partialmethod(capture, 3)
    k = functools.partialmethod(capture, a=1)
    b = functools.partialmethod(capture, 3, b=4)
    nested = functools.partialmethod(b, 5)
    over = functools.partialmethod(functools.partial(capture, c=6), 7)
    st = functools.partialmethod(staticmethod(capture), 8)
    cl = functools.partialmethod(classmethod(capture), d=9)
    def __repr__(s): return 'A'
a=A()
print(a.n(), a.p(5), a.k(1), a.b(5,c=6), a.nested(6,d=7), a.over(5,d=8), a.st(), A.st(), a.cl(), A.cl(), A.p(a,5))
print(repr(vars(A)['b'])[:40], repr(A.__dict__['nested'])[:30])
import functools
@functools.total_ordering
class V:
    def __init__(s,x): s.x=x
    def __le__(s,o):
        if not isinstance(o,V): return NotImplemented
        return s.x<=o.x
    def __eq__(s,o):
        if not isinstance(o,V): return NotImplemented
        return s.x==o.x
print(V(1)<V(1), V(2)>V(1), V(1)>=V(1), V(1)<=V(0), V(0)<V(1), V.__gt__.__name__)
try: V(1)<3
except TypeError as e: print(str(e).replace("functools.",""))
try: V(1)>=3
except TypeError as e: print(str(e).replace("functools.",""))
def mycmp(a,b): return (a>b)-(a<b)
K=functools.cmp_to_key(mycmp)
print(K(3).obj, K(3)<K(4), K(3)==K(3), sorted([3,1,2], key=K), K(3)>=K(4))
try: hash(K(3))
except TypeError as e: print(str(e).replace("functools.",""))
try: functools.reduce(lambda a,b:a+b, [])
except TypeError as e: print(str(e).replace("functools.",""))
try: functools.reduce(lambda a,b:a+b, 5)
except TypeError as e: print(str(e).replace("functools.",""))
class C:
    @functools.lru_cache
    def f(self, x): return x
    @functools.cached_property
    def cp(self): 
        "doc"
        return 7
    @functools.singledispatchmethod
    def g(self, x): return 'base'
    @g.register
    def _(self, x: int): return 'int'
    @g.register(str)
    def _(self, x): return 'str'
    @functools.singledispatchmethod
    @classmethod
    def h(cls, x): return 'base', cls.__name__
    @h.register(int)
    @classmethod
    def _(cls, x): return 'int', cls.__name__
c=C(); c.f(1); c.f(1); print(C.f.cache_info(), c.f.cache_info().hits, C.f.__name__)
print(c.cp, c.__dict__, isinstance(C.cp, functools.cached_property), C.cp.__doc__)
print(c.g(1), c.g('a'), c.g(1.0), C.h(1), C.h(2.))
@functools.singledispatch
def sd(x): return 'base'
@sd.register
def _(x: list|tuple): return 'seq'
@sd.register(bool)
def _(x): return 'bool'
@sd.register(int)
def _(x): return 'int'
print(sd([]), sd(()), sd(True), sd(1), sd(1.), sd.__name__)
def w(f):
    @functools.wraps(f)
    def wrapper(*a): 
        "w"
        return f(*a)
    return wrapper
@w
def orig(a: int) -> str:
    "orig doc"
orig.x=1
print(orig.__name__, orig.__doc__, orig.__annotations__, orig.__wrapped__.__name__, orig.__qualname__, orig.__module__)
p=functools.partial(print, 1, sep='-'); print(p.func, p.args, p.keywords, p)
class CP:
    cp = property(lambda s: 1)
try: CP().cp=2
except AttributeError as e: print(e)
import collections
print([isinstance(v, t) for v in (True, 1, 1.0, "s", [], collections.deque()) for t in (bool, int, list)])
class Kept(functools.partial):
    pass
k = Kept(capture, 1, z=2)
k.note = 3
print(k(5), isinstance(k, functools.partial), k.note, k.func is capture, Kept(k, 4).args)
print(functools.partial(functools.partial(capture, 1), 2).args)
for bad in (lambda: functools.partial(), lambda: functools.partial(3)):
    try: bad()
    except TypeError as e: print(e)
