# SPDX-License-Identifier: MIT
# Dicts that stand for attributes, annotations and defaults, and what changing them does.
def f(a:int):pass
f.__annotations__['b']=1
print(f.__annotations__, f.__annotations__ is f.__annotations__)
class C: x:int=1
C.__annotations__['z']=3
print(C.__annotations__)
f.__dict__['q']=3; print(f.q)
f.__defaults__=(5,)
print(f())
def g(*,k=1): return k
g.__kwdefaults__={'k':9}; print(g())
g.__kwdefaults__['k']=7; print(g(), g.__kwdefaults__)
f.__name__="zz"; f.__doc__="d"; print(f.__name__, f.__qualname__, f.__doc__)
print(f.__code__.co_varnames, f.__code__.co_argcount, g.__code__.co_kwonlyargcount, f.__closure__)
C.__dict__
try: C.__dict__['a']=1
except TypeError as e: print(e)
class M(type):
    def __new__(m,n,b,d): return super().__new__(m,n,b,d)
o=C(); o.__dict__['k']=5; print(o.k, vars(o)); o.__dict__={'z':1}; print(o.z, vars(o)); o.__dict__.update(a=3); print(o.a); del o.__dict__['a']; print(hasattr(o,'a'))
o.__class__=type("D",(C,),{}); print(type(o).__name__)
class AttrDict(dict):
    def __init__(self, *a, **k):
        super().__init__(*a, **k); self.__dict__ = self
d=AttrDict(lr=1, b=2)
print(d.lr, d["lr"]); d.new=5; print(d["new"], d); d["x"]=7; print(d.x, vars(d) is d); del d.x; print("x" in d, d.keys())
class Borg:
    _s={}
    def __init__(self): self.__dict__=self._s
a=Borg(); b=Borg(); a.q=1; print(b.q, Borg._s, a.__dict__ is b.__dict__)
class N:
    def __init__(self, **k): self.__dict__.update(k)
n=N(a=1,b=2); print(n.a, n.__dict__, vars(n)); n.__dict__["c"]=3; print(n.c); n.__dict__.pop("a"); print(hasattr(n,"a")); n.__dict__.clear(); print(vars(n))
n.__dict__={"k":1}; print(n.k); n.z=2; print(n.__dict__, list(vars(n)))
import copy
c=copy.copy(n); c.z=9; print(n.z, c.z); c=copy.deepcopy(a); c.q=5; print(a.q)
try: n.__dict__=3
except TypeError as e: print(e)
d2=n.__dict__; n.w=1; print(d2["w"], len(d2), d2)
class Sl:
    __slots__=("a",)
try: Sl().__dict__={}
except AttributeError as e: print(e)
