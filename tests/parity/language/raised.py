# SPDX-License-Identifier: MIT
# What is raised, with its words, cause and context.
import sys, traceback
def section(n): print("==",n)
def run(f,*a):
    try: r=f(*a); print(f.__name__,"->",repr(r))
    except BaseException as e: print(f.__name__,type(e).__name__,e, "cause",repr(e.__cause__),"ctx",repr(e.__context__))
def f1():
    try: raise KeyError("a")
    except KeyError: raise ValueError("b")
def f2():
    try: 1/0
    except ZeroDivisionError as e: raise ValueError from None
def f3():
    try: return 1
    finally: return 2
def f4():
    for i in range(3):
        try: continue
        finally: print("fin",i)
    return i
def f5():
    while True:
        try: break
        finally: print("brk")
    else: print("no")
    return "d"
def f6():
    try: raise ValueError(1)
    except (KeyError, ValueError) as e: x=e
    try: e
    except NameError as n: return str(n)
def f7():
    try: pass
    except: pass
    else: return "else"
    finally: print("f")
def f8(): raise "str"
def f9(): raise ValueError("x") from 3
def f10(): raise
def f11(): assert 1==2, "msg"
def f12(): assert False
def f13():
    try: raise ValueError("a")
    except ValueError as e:
        e.add_note("n"); raise
def f14():
    try:
        try: raise A()
        finally: print("cleanup")
    except NameError as e: return e.name
def f15():
    def g():
        try: yield 1
        finally: print("gfin")
    for x in g(): break
    it=g(); next(it); it.close(); return list(it)
def f16():
    e=ValueError("a",1,2); return e.args, str(e), repr(e), str(ValueError()), repr(KeyError("k")), str(KeyError("k")), str(OSError(2,"No such","f")), repr(OSError(2,"x")), OSError(2,"x").errno, type(OSError(2,"x")).__name__
class MyE(Exception):
    def __init__(self, code, msg="dflt"): super().__init__(msg); self.code=code
    def __str__(self): return f"[{self.code}] {self.args[0]}"
def f17(): raise MyE(5)
def f18():
    try: raise MyE(6,"q")
    except MyE as e: return e.code, e.args, repr(e), str(e)
def f20():
    try:
        raise ValueError("1")
    except ValueError:
        try: raise KeyError("2")
        except KeyError as e: return repr(e.__context__), repr(sys.exc_info()[1])
def f22(): return [1,2,3].index(9)
def f23(): return {}.popitem()
def f24(): return "abc".index("z")
def f25(): return [].pop()
def f26(): return int("12",40)
def f27(): return chr(-1)
def f28(): return "{0}{}".format(1,2)
def f29(): return "{a}".format(b=1)
def f30(): return "%d" % "x"
def f31(): return "%s %s" % (1,)
def f32(): return "%s" % (1,2)
def f33(): return f"{3:q}"
def f34(): return f"{'a':d}"
def f35(): return format(3.5,"d")
def f36(): return [1,2][::0]
def f37(): return range(1,2,0)
def f38(): return sum(["a"])
def f39(): return max([])
def f40(): return min(1,"a")
def f41(): return sorted([1,"a"])
def f42(): return list(zip([1],[2,3],strict=True))
def f43(): return dict([(1,2,3)])
def f44(): return dict(1)
def f45(): return set([[]])
def f46(): return next(iter([]))
def f47(): return getattr(3,"foo")
def f48(): return __import__("nonexistent_mod")
def f50():
    import nonexistent.sub
def f51(): return 2**-1, 0**0, 0.0**0
def f52(): return 0**-1
def f53(): return 1//0.0
def f54(): return 10%0
def f55(): return divmod(1,0)
def f56(): return 1e308*10, -1e308*10
def f57(): return 10.0**400
def f58(): return int(float("inf"))
def f59(): return int(float("nan"))
def f60(): return round(float("inf"))
def f61(): return "a"*-1, [1]*0, "ab"*2
def f62(): return "a"*2.0
def f63(): return [1,2,3]["a"]
def f64(): return (1).real, (1.5).is_integer(), (2.0).as_integer_ratio(), float.fromhex("0x1p3"), (1.5).hex(), (10).bit_count()
def f65(): return x_undefined
def f66():
    print(loc); loc=1
def f67():
    def inner(): nonlocal q; q+=1
    q=1; inner(); return q
def f68():
    del undefd
def f69(): return "é".encode("ascii")
def f70(): return b"\xff".decode()
def f71(): return b"\xff".decode("utf-8","replace"), "é".encode("ascii","ignore"), "é".encode("ascii","backslashreplace"), "é".encode("latin-1"), b"\xe9".decode("latin1")
def f73(): return bytearray(b"ab")+b"c", bytes(3), b"ab"[0], b"ab"[0:1], b"a"<b"b", b"%d" % 3, bytes.fromhex("0aff"), b"ab".hex()
def f74(): return type("X",(),{"a":1})().a, type("X",(object,),{})
def f75(): return isinstance(1,"a")
def f76(): return issubclass(1,int)
def f77(): return super().x
def f79(): return print(1, sep=3)
def f80(): return open
def f81(): return ord("ab")
def f82(): return abs("a")
def f83(): return len(3)
def f84(): return iter(3)
def f85(): return reversed({1})
def f86(): return hash({})
def f87(): return id(1)==id(1)
def f88(): return input
def f89(): return "a".join([1])
def f90(): return "abc".replace("b",1)
def f91(): return {**{1:2}, **{"a":1}}, dict(**{"a":1})
def f92(): return dict(**{1:2})
def f93(): return (lambda **k:k)(**{"a b":1})
def f94(): return print(*[1,2],sep="-")
def f95(): raise SystemExit(3)
def f96(): raise KeyboardInterrupt
def f97(): raise StopIteration(4)
def f98(): raise NotImplementedError("ni")
def f99(): return [i for i in range(3) if 1/(i-1)]
for i in range(1,100):
    if i not in (19,21,49,72,78): run(globals()["f%d"%i])
