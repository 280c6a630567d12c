# SPDX-License-Identifier: MIT
# Metaclasses of the program: what they make, what classes have by them.
class Reg(type):
    reg={}
    def __new__(m,name,bases,ns,**kw):
        c=super().__new__(m,name,bases,ns); 
        if bases: m.reg[kw.get("key",name)]=c
        return c
    def __init__(c,name,bases,ns,**kw): super().__init__(name,bases,ns); c.tag=name.lower()
    def __call__(c,*a,**k): o=super().__call__(*a,**k); o.made=True; return o
    def __len__(c): return 7
    def __getitem__(c,k): return (c.__name__,k)
    def __iter__(c): return iter("xy")
    def __contains__(c,x): return x=="in"
    def __repr__(c): return f"<R {c.__name__}>"
    def hello(c): return "hello "+c.__name__
    @property
    def prop(c): return "p"+c.__name__
    def __getattr__(c,n):
        if n.startswith("__"): raise AttributeError(n)
        return "dyn_"+n
    def __instancecheck__(c,o): return o==5 or super().__instancecheck__(o)
class B(metaclass=Reg): pass
class M(B,key="m"):
    def __init__(s,x): s.x=x
class N(M): pass
print(Reg.reg, M.tag, M(3).made, len(M), M["k"], list(M), "in" in M, M.hello(), M.prop, M.foo, isinstance(5,M), isinstance(M(1),B), type(M), type(M) is Reg, Reg.__mro__)
class Sing(type):
    _i={}
    def __call__(cls,*a,**k):
        if cls not in cls._i: cls._i[cls]=super().__call__(*a,**k)
        return cls._i[cls]
class Cfg(metaclass=Sing):
    def __init__(s,v): s.v=v
print(Cfg(1) is Cfg(2), Cfg(9).v)
class Prep(type):
    @classmethod
    def __prepare__(m,n,b,**k): return {"inj":42}
    def __new__(m,n,b,ns): ns["fields"]=[k for k in ns if not k.startswith("_")]; return type.__new__(m,n,b,ns)
class PP(metaclass=Prep):
    a=1
    def f(s): return inj if 0 else s.inj
print(PP.fields, PP().f())
X=type("X",(B,),{"z":1,"g":lambda s:s.z}); print(X().g(), X.__name__, X.__bases__, X)
Y=Reg("Y",(B,),{}); print(Y.tag, Reg.reg["Y"] is Y)
class Plug:
    subs=[]
    def __init_subclass__(cls,/,name=None,**kw): super().__init_subclass__(**kw); cls.subs.append((name,cls.__name__))
class P1(Plug,name="one"): pass
class P2(P1): pass
print(Plug.subs)
class G:
    def __class_getitem__(cls,k): return (cls.__name__,k)
print(G[int], B.__subclasses__(), M.mro())
def mk(n,b,ns): return (n,b,sorted(k for k in ns if k[0]!="_"))
class Fm(metaclass=mk): q=1
print(Fm)
class A1(type): pass
class A2(type): pass
try:
    class Z(A1("a",(),{}),A2("b",(),{})): pass
except TypeError as e: print(e)
