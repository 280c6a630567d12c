# SPDX-License-Identifier: MIT
# Enumerations: members, flags, mixed with data, made by calls and by __new__.
from enum import *
import enum
class Color(Enum):
    RED=1; GREEN=2; BLUE=3
    CRIMSON=1
    def describe(self): return self.name.lower()
    @property
    def up(self): return self.value*10
    @classmethod
    def default(cls): return cls.RED
    def __str__(self): return f"C.{self.name}"
print(Color.RED, repr(Color.RED), Color.RED.name, Color.RED.value, Color(2), Color["BLUE"], list(Color), len(Color), Color.CRIMSON is Color.RED, Color.RED.describe(), Color.RED.up, Color.default(), Color.RED in Color, Color.__members__, list(reversed(Color)), bool(Color), type(Color), Color.RED.__class__, isinstance(Color.RED, Color), hash(Color.RED)==hash(Color.RED), {Color.RED:1}[Color.RED])
try: Color(9)
except ValueError as e: print(e)
try: Color["X"]
except KeyError as e: print(e)
try: Color.RED=3
except AttributeError as e: print(e)
try: del Color.RED
except AttributeError as e: print(e)
try:
    class Sub(Color): pass
except TypeError as e: print(e)
try:
    class Dup(Enum):
        A=1; A=2
except TypeError as e: print(str(e)[:19])
try: Color.RED < Color.GREEN
except TypeError as e: print(e)
try: 
    @unique
    class U(Enum): A=1; B=1
except ValueError as e: print(e)
class I(IntEnum): A=1; B=2
print(I.A+1, I.A<I.B, I.A==1, repr(I.A), str(I.A), f"{I.A}", f"{I.A:>3}", "%d" % I.A, I.A|I.B, type(I.A|I.B), [10,20,30][I.A], int(I.B), I(1), max(I), sorted([I.B,I.A]))
class S(StrEnum): X=auto(); Y="why"
print(S.X, repr(S.X), S.X=="x", S.Y.upper(), f"{S.X:>4}", S("why"), "a"+S.X, S.X.value, ",".join(S))
class SE(str, Enum): A="a"; B="b"
print(SE.A, repr(SE.A), SE.A=="a", SE.A.value, f"{SE.A}", SE("b"), SE.A+"x", "{}".format(SE.B), SE.A in {"a":1}, SE.A.upper())
class F(Flag): R=auto(); W=auto(); X=auto(); RW=R|W
print(F.R, repr(F.R|F.X), F.RW, F.R in F.RW, F.R|F.W is F.RW, ~F.R, F(0), F(5), bool(F(0)), list(F.RW), F.RW.value, F.R&F.W, F.R^F.RW, len(F), list(F), F.RW.name, (F.R|F.X).name, F["R"], str(F.R|F.X))
try: F(16)
except ValueError as e: print(e)
class IF(IntFlag): A=1; B=2
print(IF.A|IF.B, IF.A|8, repr(IF.A|IF.B), IF(7), IF.A+1, ~IF.A, IF.A & 3, str(IF.A), f"{IF.A}", IF.A|4|IF.B)
E2=Enum("E2","A B C"); print(list(E2), E2.A.value); E3=Enum("E3",{"x":5,"y":6}); print(E3.x, list(E3)); E4=IntEnum("E4",["P","Q"], start=0); print(E4.P, list(E4)); E5=Enum("E5",[("k",1),("l",2)]); print(list(E5))
class Planet(Enum):
    EARTH=(5.9,6.3); MARS=(6.4,3.3)
    def __init__(self, mass, radius): self.mass=mass; self.radius=radius
    @property
    def g(self): return self.mass/self.radius
print(Planet.EARTH.mass, Planet.MARS.value, round(Planet.EARTH.g,3), Planet((6.4,3.3)))
class AN(Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()+str(count)
    A=auto(); B=auto()
print(AN.A.value, AN.B.value, list(AN))
class Miss(Enum):
    A=1; B=2
    @classmethod
    def _missing_(cls, v): return cls.A if v==99 else None
print(Miss(99)); 
try: Miss(5)
except ValueError as e: print(e)
class New(bytes, Enum):
    def __new__(cls, v, label):
        o=bytes.__new__(cls,[v]); o._value_=v; o.label=label; return o
    A=(1,"one"); B=(2,"two")
print(New.A.label, New(2), New.B.value)
class Ig(Enum):
    _ignore_=["tmp"]; tmp=3; A=1
print(list(Ig))
import pickle, copy, json
print(copy.copy(Color.RED) is Color.RED, copy.deepcopy(Color.RED) is Color.RED, json.dumps([I.A, S.X, SE.A]))
print(Color.RED.__doc__, Color.__doc__, Color.__name__, Color.__module__, dir(Color)[:3], Color.RED._name_, Color._member_names_, Color._value2member_map_, Color.RED._value_, Color._member_map_)
def m(c):
    match c:
        case Color.RED: return "r"
        case Color.GREEN | Color.BLUE: return "gb"
print(m(Color.RED), m(Color.BLUE))
class WithNone(Enum): A=None; B=[1]; C={}
print(list(WithNone), WithNone(None), WithNone([1]))
print(Color.RED == 1, Color.RED != Color.GREEN, Color.RED is Color(1), Color.RED in [Color.RED])
try: print(1 in Color)
except TypeError as e: print(e)
for n, mm in Color.__members__.items(): print(n, mm, end="; ")
print(); print(isinstance(Color, EnumMeta), EnumType is EnumMeta, issubclass(I, int), Color.__class__, callable(Color))
class Perm(IntFlag):
    NONE=0; R=4; W=2; X=1; ALL=7
print(Perm.ALL, repr(Perm.R|Perm.W), Perm(0), list(Perm), Perm.ALL & ~Perm.W, Perm.R in Perm.ALL, Perm.R.value)
class Base(Enum):
    def hi(self): return "hi "+self.name
class Der(Base): A=1
print(Der.A.hi(), Der.A)
@verify(UNIQUE)
class V(Enum): A=1; B=2
print(V.A)
class Mem(Enum):
    @member
    def f(): return 1
    n = nonmember(5)
    A=1
print([m.name for m in Mem], Mem.n)
class Stage(Enum):
    def __new__(cls, *_):
        new = object.__new__(cls)
        new._value_ = 10 * len(cls.__members__)
        return new
    LOADED = ()
    SPLIT = ()
    TRAINED = ()
print(list(Stage))
class En(Enum):
    def __new__(cls, *args):
        obj = object.__new__(cls); obj._value_=len(cls.__members__)+10
        return obj
class Co(En):
    a=(); b=()
print(list(Co))
class Str(Enum):
    A=1; B=2
    def __str__(self): return f"{self.name} is!"
    def __repr__(self): return f"R{self.name}"
print([str(x) for x in Str], [f"{x}" for x in Str], [repr(x) for x in Str], "%s %r" % (Str.A,Str.B), format(Str.A))
class SI(IntEnum):
    A=1
    def __str__(self): return "SI!"
print(str(SI.A), f"{SI.A}", "%s" % SI.A, "{}".format(SI.A), "%d" % SI.A)
class SF(float, Enum):
    A=1.5
    def __str__(self): return "SF!"
    def __format__(self, s): return "fmt"+s
print(str(SF.A), f"{SF.A}", f"{SF.A:>3}", SF.A+1, repr(SF.A))
class P1(Enum):
    def __init__(self, x, y): self.x=x
    A=(1,2)
try: 
    class P2(Enum):
        def __init__(self): pass
        A=(1,2)
except TypeError as e: print(e)
import datetime
class D(datetime.date, Enum):
    X=(2023,12,1); Y=(2020,1,2)
print(D.X, D.X.year, list(D), D.X==datetime.date(2023,12,1), D.X<D.Y, D.X.value)
class MI(int):
    def __new__(cls, v): return int.__new__(cls, v)
class ME(MI, Enum): A=1; B=2
print(ME.A, ME.A+1, type(ME.A.value), ME.A.value, isinstance(ME.A, MI), ME(2))
E3=Enum("E3","a b", type=str); print(E3.a, repr(E3.a), E3.a.value)
E4=Enum("E4","a b", type=float, start=3) if 0 else None
class O(Enum):
    _order_="A B"
    A=1; B=2
print(list(O))
try:
    class O2(Enum):
        _order_="B A"
        A=1; B=2
except TypeError as e: print(e)
from collections import namedtuple
NT=namedtuple("NT","a b")
class NE(NT, Enum):
    A=NT(1,2); B=(3,4)
print(NE.A, repr(NE.B), NE.A.a, NE.B.value)
class V2(Enum):
    a=auto(), auto()
    b=auto(), 5
print([x.value for x in V2])
class St(str, Enum):
    a="x"
    def __str__(self): return self.value
print(St.a, f"{St.a}", St.a=="x", repr(St.a), {St.a: 1}["x"], json if 0 else "")
class Hash(Enum):
    name1="n"
    value1=3
print(Hash.name1.name, Hash.value1.value)
class DC(Enum):
    name=1
print(DC["name"], DC(1).value)
print(dir(Str)[:3], [x for x in dir(Str.A) if not x.startswith('__')], [x for x in dir(P1.A) if not x.startswith("__")])

class Tagged(Enum):
    @property
    def first(self): return self.name+" is first!"
class Members(Tagged):
    first=auto(); second=auto()
print(Members.first.first, Members.second.first, Members.first, Members["first"] is Members.first)
try:
    class Bad(Enum):
        def __new__(cls, value): return super().__new__(cls, value)
        A=1
except TypeError as e: print(e)
class S(Enum):
    def __init__(self, v): super().__init__(); self.twice=v*2
    A=3
print(S.A.twice)
import math
print([math.factorial(i) for i in (5,6,3,20,21,25,24,0,1,100)]==[120,720,6,2432902008176640000,51090942171709440000,15511210043330985984000000,620448401733239439360000,1,1,math.factorial(99)*100], math.lcm(3,0,4), math.lcm(), math.log10(10**1000))
for c in ("math.lcm(3,0,1.5)","math.log10(-10**1000)",):
    try: print(eval(c))
    except Exception as e: print(c, type(e).__name__, e)
