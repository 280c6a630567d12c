# SPDX-License-Identifier: MIT
# Plain classes: attributes, super, descriptors, properties, __slots__, copies.
import copy
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class A:
    kind = "a"
    def __init__(self, x=1): self.x = x
    def get(self): return self.x
a = A(5)
print(a.x, a.get(), A.get(a), A.kind, a.kind, vars(a), a.__dict__, A.__mro__, A.__bases__, A.mro(), A.__name__)
a.kind = "own"; print(a.kind, A.kind); del a.kind; print(a.kind)
t(lambda: a.nope); t(lambda: A.nope); t(lambda: len(a)); t(lambda: a[0]); t(lambda: a()); t(lambda: iter(a)); t(lambda: a + 1); t(lambda: -a); t(lambda: a < a); t(lambda: 1 in a)
def setit(): a[0] = 1
def delit(): del a[0]
def delattr_(): del a.zzz
t(setit); t(delit); t(delattr_)
def withit():
    with a: pass
t(withit)
for n in ("parameters", "forward", "training", "_modules", "_parameters", "to", "extend", "__name", "__base", "__python", "__order", "_class", "_attrs", "_order", "__new", "train", "apply", "register_buffer"):
    if hasattr(a, n) or hasattr(A, n): print("has", n)
for n in ("_attrs", "_class", "_order", "_hooks", "training", "parameters", "children", "message", "args", "name", "shown", "n"):
    setattr(a, n, n + "!")
print([getattr(a, n) for n in ("_attrs", "_class", "_order", "_hooks", "training", "parameters", "children", "message", "shown")], a.x)
print(type(a) is A, isinstance(a, A), a.__class__.__name__, callable(a), callable(A), bool(a), a == a, a == A(5), a != A(5))
class Tree:
    def __init__(self, *children): self.children = list(children)
print(len(Tree(Tree(), Tree()).children))
t(lambda: list(Tree()))
class Seq:
    def __getitem__(self, i):
        if i > 3: raise IndexError(i)
        return i * i
print(list(Seq()), 4 in Seq(), 5 in Seq(), max(Seq()))
# super, mro, class methods
class Base:
    made = []
    def __init_subclass__(cls, tag=None, **kw):
        super().__init_subclass__(**kw)
        Base.made.append((cls.__name__, tag))
    @classmethod
    def of(cls, *a): return cls(*a)
    @staticmethod
    def st(x): return x * 2
    def hi(self): return "Base.hi"
    def __repr__(self): return f"<{type(self).__name__}>"
class L(Base, tag="l"):
    def hi(self): return "L>" + super().hi()
    @classmethod
    def of(cls, *a): return super().of(*a)
class R(Base):
    def hi(self): return "R>" + super().hi()
class LR(L, R, tag=3):
    def hi(self): return "LR>" + super().hi()
print(LR().hi(), LR.of(), L.of(), Base.made, LR.st(4), LR().st(5), [c.__name__ for c in LR.__mro__], issubclass(LR, Base), issubclass(LR, object), issubclass(R, L))
t(lambda: type("X", (Base, LR), {}))
t(lambda: super(LR, LR()).nothing)
class Mixin:
    def __init__(self, *a, **k): super().__init__(*a, **k); self.mixed = True
class WithMixin(Mixin, A): pass
w = WithMixin(7); print(w.x, w.mixed, WithMixin.__mro__)
class D(dict and object): pass
print(D.__bases__, object() == object(), repr(D())[:20])
# properties and descriptors
class P:
    def __init__(self): self._v = 1
    @property
    def v(self):
        "doc of v"
        return self._v
    @v.setter
    def v(self, x): self._v = x + 100
    @v.deleter
    def v(self): self._v = None
    @property
    def ro(self): return "ro"
    @property
    def bad(self): return self.missing_name
p = P(); p.v = 5; print(p.v); del p.v; print(p.v)
def setro(): p.ro = 1
t(setro); t(lambda: p.bad); print(hasattr(p, "bad"), getattr(p, "bad", "default"))
class Desc:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, obj, owner=None): return self if obj is None else obj.__dict__.get(self.name, "unset")
    def __set__(self, obj, v): obj.__dict__[self.name] = ("set", v)
    def __delete__(self, obj): obj.__dict__.pop(self.name, None)
class NonData:
    def __get__(self, obj, owner=None): return "nondata"
class U:
    d = Desc(); e = Desc(); nd = NonData()
u = U(); print(u.d); u.d = 3; print(u.d, u.e, u.__dict__, type(U.d).__name__, u.nd); u.nd = "mine"; print(u.nd); del u.d; print(u.d)
# __slots__
class S:
    __slots__ = ("x", "y")
    def __init__(self): self.x = 1
s = S()
def setz(): s.z = 1
t(setz); t(lambda: s.y); s.y = 2; print(s.x, s.y); t(lambda: s.__dict__)
class S2(S):
    __slots__ = ["z"]
s2 = S2(); s2.z = 9; s2.x = 3; print(s2.x, s2.z)
def setw(): s2.w = 1
t(setw)
class S3(S): pass
s3 = S3(); s3.anything = 1; print(s3.anything, s3.__dict__)
# __getattr__ and company
class G:
    def __init__(self): self.log = []
    def __getattr__(self, name):
        if name.startswith("x"): return name.upper()
        raise AttributeError(f"no {name}")
    def __setattr__(self, name, v):
        if name == "log": object.__setattr__(self, name, v)
        else: self.log.append((name, v)); super().__setattr__(name, v)
    def __delattr__(self, name): self.log.append(("del", name)); object.__delattr__(self, name)
g = G(); g.a = 1; print(g.xyz, g.a, g.log); del g.a; print(g.log, hasattr(g, "zz")); t(lambda: g.zz)
class New:
    def __new__(cls, x):
        o = super().__new__(cls); o.pre = x * 2
        return o
    def __init__(self, x): self.x = x
n = New(4); print(n.pre, n.x)
class Single:
    _inst = None
    def __new__(cls, *a):
        if cls._inst is None: cls._inst = object.__new__(cls)
        return cls._inst
print(Single() is Single())
class Call:
    def __call__(self, *a, **k): return a, k
print(Call()(1, b=2), callable(Call()))
class Ctx:
    def __enter__(self): return "in"
    def __exit__(self, t, v, tb): print("out", t and t.__name__); return True
with Ctx() as c: print(c); raise ValueError("x")
# text
class T1:
    def __str__(self): return "str"
class T2:
    def __repr__(self): return "repr"
print(T1(), T2(), [T2()], f"{T1()} {T2()!r} {T2()!s:>6}", str(T2()), repr(T1())[:13])
class F:
    def __format__(self, spec): return f"<{spec}>"
print(f"{F():abc}", format(F(), "q"), "{:z}".format(F()))
# comparing, hashing, truth
class Cmp:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v if isinstance(o, Cmp) else NotImplemented
    def __lt__(self, o): return self.v < o.v
print(Cmp(1) == Cmp(1), Cmp(1) == 1, Cmp(1) != Cmp(2), sorted([Cmp(3), Cmp(1)])[0].v, Cmp(1) > Cmp(0)); t(lambda: hash(Cmp(1)))
class Len:
    def __len__(self): return 0
class Bool:
    def __bool__(self): return False
print(bool(Len()), bool(Bool()), not Len())
# copies
class Node:
    def __init__(self, v, nxt=None): self.v = v; self.next = nxt
x = Node([1], None); x.next = x; y = copy.deepcopy(x); z = copy.copy(x)
print(y.next is y, y.v == x.v, y.v is x.v, z.v is x.v, z is x, z.next is x)
class Cp:
    def __copy__(self): return "copied"
    def __deepcopy__(self, memo): return "deep"
print(copy.copy(Cp()), copy.deepcopy([Cp()]), copy.copy({1: [2]}), copy.deepcopy({1: (2, [3])}), copy.copy({1, 2}))
# class attributes, nested, dynamic
class Outer:
    class Inner:
        z = 3
    lst = []
    def add(self, v): self.lst.append(v); return self
Outer().add(1); Outer().add(2); print(Outer.lst, Outer.Inner.z, Outer().Inner().z)
Outer.new_method = lambda self: "dynamic"; print(Outer().new_method())
Dyn = type("Dyn", (A,), {"k": 9, "m": lambda self: self.x + 1}); print(Dyn(3).m(), Dyn.k, Dyn.__name__)
print(A().__eq__(3), A.__init__(A(2)) , type(A().__repr__()).__name__, object.__repr__(A())[:12])
class OnlyB: pass
class OnlyC:
    c = 5
    def from_c(self): return "C"
    @property
    def prop(self): return "prop of C"
class Both(OnlyB, OnlyC): pass
print(Both().from_c(), Both.c, Both().prop, hasattr(Both(), "none"))
