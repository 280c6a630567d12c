# SPDX-License-Identifier: MIT
# What is an instance of the abstract classes of collections.abc, and the classes
# of collections: counters, named tuples, chains, queues, sets of sets.
from collections import Counter, OrderedDict, defaultdict, namedtuple, ChainMap, deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Hashable, Sized, Container, Collection, Iterator, Generator, MutableMapping, Set, MutableSet, MutableSequence, Reversible, KeysView
import collections.abc as cabc
names="Callable Iterable Mapping Sequence Hashable Sized Container Collection Iterator Generator MutableMapping Set MutableSet MutableSequence Reversible KeysView ItemsView ValuesView MappingView ByteString Awaitable Coroutine".split()
def gen(): yield 1
class E: pass
class L:
    def __len__(self): return 0
    def __iter__(self): return iter(())
    def __contains__(self, x): return False
    def __getitem__(self, i): raise IndexError
    def __call__(self): pass
class NH: __hash__=None
vals=dict(int=1, str="a", list=[], tuple=(), dict={}, set=set(), fset=frozenset(), bytes=b"", ba=bytearray(), rng=range(2), keys={}.keys(), items={}.items(), values={}.values(), gen=gen(), it=iter([]), dit=iter({}), sit=iter(set()), strit=iter(""), bit=iter(b""), zip=zip(), map=map(int,[]), enum=enumerate([]), rev=reversed([]), filt=filter(None,[]), fn=gen, lam=lambda:0, builtin=len, meth=[].append, cls=int, E=E, e=E(), l=L(), nh=NH(), none=None, od=OrderedDict(), dd=defaultdict(int), c=Counter(), dq=deque(), cm=ChainMap(), ell=..., sl=slice(1), odk=OrderedDict().keys(), ritr=iter(range(3)))
for n,v in vals.items():
    print(n, sorted(x for x in names if isinstance(v, getattr(cabc,x))))
    a=[x for x in names if isinstance(v, getattr(cabc,x))]; b=[x for x in names if issubclass(type(v), getattr(cabc,x))]
    if a!=b: print("   DIFF", n, type(v), sorted(set(a)^set(b)))
c=Counter("abracadabra"); print(c, c.most_common(2), c+Counter(a=1), c-Counter(a=3), c&Counter(a=2,z=1), c|Counter(z=3), +Counter(a=-1,b=2), -Counter(a=-1), c.total(), sorted(c.elements()))
class MC(Counter): pass
print(MC("ab"), type(MC("ab").copy()), repr(MC("ab")+MC("b")))
c.update({"q":2}); c.subtract("aa"); print(c); print(Counter(a=1)==Counter(a=1,b=0), Counter(a=1)<=Counter(a=2), c["zz"], "zz" in c)
print(Counter({1:1,None:1}))
c.update(a=1.5); print(c["a"]); c2=Counter(); c2["x"]+=10**20; c2.update({"x":10**20}); print(c2)
try: Counter.fromkeys("a")
except NotImplementedError as e: print(e)
P=namedtuple("P","x y",defaults=[5]); p=P(1); print(p,p._asdict(),p._replace(x=9),P._fields,P._field_defaults,P._make([1,2]),P.__new__.__defaults__, P.__doc__, P.x.__doc__, P.__slots__, p.__getnewargs__(), P.__match_args__, P.__bases__, p==(1,5), hash(p)==hash((1,5)), p+(1,), p[0], p[-1:], [*p])
try: P()
except TypeError as e: print(e)
try: P(1,2,3)
except TypeError as e: print(e)
try: p._replace(z=1)
except ValueError as e: print(e)
try: p.x=3
except AttributeError as e: print(e)
try: namedtuple("P","class x")
except ValueError as e: print(e)
print(namedtuple("P","class x x", rename=True)._fields)
class P2(namedtuple("Base","a b")):
    __slots__=()
    def s(self): return self.a+self.b
    def __repr__(self): return "P2!"+super().__repr__()
print(P2(1,2), P2(1,2).s(), P2(1,2)._replace(a=5))
od=OrderedDict(a=1,b=2,c=3); od.move_to_end("a"); print(od, od.popitem(last=False), list(reversed(od))); od.move_to_end("a",last=False); print(od, od==OrderedDict(c=3,a=1), od=={"c":3,"a":1})
cm=ChainMap({"a":1},{"a":2,"b":3}); print(cm["a"],cm["b"],dict(cm),len(cm),cm.maps,cm.new_child({"z":1}),cm.parents,list(cm)); cm["n"]=1; print(cm)
try: del cm["b"]
except KeyError as e: print(e)
dq=deque([1,2,3],maxlen=3); dq.append(4); dq.appendleft(0); print(dq,dq.rotate(1),dq,dq.index(2),dq.count(1)); dq.extendleft([7,8]); print(dq, dq.maxlen, dq[1], list(reversed(dq))); dq.insert
try: dq.insert(0,1)
except IndexError as e: print(e)
dd=defaultdict(list); dd["a"].append(1); print(dd, dd.default_factory, dd.get("q"), dd|{"b":2}, dd.copy())
d=dict(zip("abc",range(3))); d["a"]=9; print(d, list(d.items()), d.setdefault("z",5), d.pop("q",None), d.get("b"), "b" in d); 
try:
    for k in d: d[k+"x"]=1
except RuntimeError as e: print(e)
s={1,2,3}; fs=frozenset([1]); print({fs} , fs in {fs}, {1} in {fs}, s-fs, s^{3,4}, s|{9}, s&{1}, s>fs, s.isdisjoint({9}), s==fs|{2,3}, type(fs|s), type(s|fs))
t={frozenset([1,2])}; t.discard({1,2}); print(t); t={frozenset([1,2])}; t.remove({1,2}); print(t)
try: {1}.remove({2})
except KeyError as e: print(e)
try: {1} | (x for x in [1])
except TypeError as e: print(e)
try: (x for x in [1]) | {1}
except TypeError as e: print(e)
try: [] + (x for x in [1])
except TypeError as e: print(e)
try: gen() - 1
except TypeError as e: print(e)
try: print(len+1)
except TypeError as e: print(e)
try: print(E()-gen)
except TypeError as e: print(e)
try: print(-gen)
except TypeError as e: print(e)
try: print(d.keys() + 1)
except TypeError as e: print(e)
try: print(zip() * 2)
except TypeError as e: print(e)
try: print(E & 2)
except TypeError as e: print(e)
try: print(print | 2)
except TypeError as e: print(e)
class FF(frozenset): pass
x=FF([1]); print(x, x|{2}, type(x|{2}), type(x.copy()))
class SS(set): 
    def __init__(self, *a, **k): self.k=k; super().__init__(*a)
try: print(SS([1],z=1).k)
except TypeError as e: print(e)
class LL(list):
    def __init__(self, *a, label=None): super().__init__(*a); self.label=label
print(LL([1],label=3).label)
class TT(tuple):
    def __new__(cls, *a, label=None): o=super().__new__(cls,*a); o.label=label; return o
print(TT([1],label=3).label)
class T3(tuple): pass
try: T3(sequence=[1])
except TypeError as e: print(e)
