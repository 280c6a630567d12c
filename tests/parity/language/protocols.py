# SPDX-License-Identifier: MIT
# copy and pickle by the methods of a class, __getattribute__, functions of
# types of data as methods, prefixes of numbers, %c.
import copy, pickle, io
class N:
    def __init__(s,v,nx=None): s.v=v; s.nx=nx
    def __eq__(s,o): return s.v==o.v
class Sl:
    __slots__=("a","b")
    def __init__(s,a,b): s.a=a; s.b=b
class St:
    def __init__(s): s.x=1; s.cache={}
    def __getstate__(s): d=s.__dict__.copy(); del d["cache"]; return d
    def __setstate__(s,d): s.__dict__.update(d); s.cache="new"
class Rd:
    def __init__(s,a): s.a=a
    def __reduce__(s): return (Rd,(s.a+1,))
class DC:
    def __deepcopy__(s,memo): r=DC(); memo[id(s)]=r; r.t=1; return r
    def __copy__(s): r=DC(); r.t=2; return r
a=[1,[2,{3:4}],(5,[6])]; b=copy.deepcopy(a); c=copy.copy(a); b[1][1][3]=9; c[1].append(7); print(a,b,c, a[2] is c[2], copy.deepcopy((1,2)) )
l=[1]; l.append(l); m=copy.deepcopy(l); print(m[1] is m, l, m)
n=N(1); n.nx=n; k=copy.deepcopy(n); print(k.nx is k, k==n, k is n)
print(copy.copy(DC()).t, copy.deepcopy([DC()])[0].t, copy.deepcopy(Sl(1,[2])).b, copy.copy(St()).cache, copy.deepcopy(Rd(1)).a)
for o in [1,"a",None,True,2.5,[1,2],{"a":(1,)},{1,2},b"x",range(3),slice(1,2),1+2j,frozenset([1]),10**30]:
    r=pickle.loads(pickle.dumps(o)); print(r, r==o, type(r).__name__)
r=pickle.loads(pickle.dumps(N(5,N(6)))); print(r.v,r.nx.v); print(pickle.loads(pickle.dumps(St())).cache, pickle.loads(pickle.dumps(Sl(1,2))).a, pickle.loads(pickle.dumps(Rd(1))).a)
f=io.BytesIO(); pickle.dump({"a":1},f,protocol=4); pickle.dump([2],f); f.seek(0); print(pickle.load(f), pickle.load(f))
try: pickle.load(f)
except EOFError as e: print("EOF",e)
print(pickle.loads(pickle.dumps(len)), pickle.loads(pickle.dumps(N)) is N, pickle.loads(pickle.dumps([ValueError("x",1)])), copy.deepcopy(print) is print)
class Seen:
    x = 1
    def __getattribute__(self, name):
        if name == "x":
            return "watched"
        return object.__getattribute__(self, name)
    def __getattr__(self, name):
        return "no " + name
print(Seen().x, Seen.x, Seen().y)
class Names(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__
c = Names(a=1); c.b = 2; del c.a; print(c.b, c, list(c.items()))
class Shown(int):
    __str__ = int.__repr__
    def __repr__(self): return "Shown"
print(str(Shown(3)), repr(Shown(3)), int.__repr__(Shown(4)), int.__str__(Shown(4)), int.__repr__(True))
print(f"{5:#010b} {255:#06x} {-5:#010b} {5:<#10b}| {5:=#10b} {5:^#10b} {2**70:#030x} {-255:+#x} {70000:#_x} {8:#o}")
for n in (300, "x", 2**80):
    try: print(b"%c" % n)
    except (OverflowError, TypeError) as e: print(type(e).__name__, e)
def names(b, a, *rest, k=1): return locals()
print(names(1, 2, 3), type(vars(type("S", (), {"f": staticmethod(len)}))["f"]))
try: open("no_such_file")
except OSError as e: print(e.errno, e.strerror, e.filename)
