# dir() runs nothing of the program: no property, no __getattr__.
class A:
    def __init__(self): self.own = 1
    @property
    def p(self):
        print("property ran"); return 1
    def __getattr__(self, name):
        print("getattr", name)
        raise AttributeError(name)
a = A()
print("start")
names = [n for n in dir(a) if not n.startswith("__")]
print(names)
class B:
    def __getattribute__(self, name):
        if name not in ("__dict__", "__class__", "__dir__"): print("getattribute", name)
        return object.__getattribute__(self, name)
    @property
    def q(self):
        print("q ran"); return 2
print([n for n in dir(B()) if not n.startswith("__")])
class M(type):
    @property
    def mp(cls):
        print("mp ran"); return 1
    def __getattr__(cls, name):
        print("M getattr", name); raise AttributeError(name)
class C(metaclass=M):
    class D:
        def __get__(self, o, t): print("get ran"); return 1
    d = D()
print([n for n in dir(C) if not n.startswith("__")])
print([n for n in dir(C()) if not n.startswith("__")])
class L(list):
    @property
    def append(self): print("append ran"); return 1
    def __getattr__(self, name):
        print("L getattr", name); raise AttributeError(name)
print("append" in dir(L()), "sort" in dir(L()))
class I(int):
    @property
    def real(self): print("real ran"); return 1
    def __getattr__(self, n): print("I ga", n); raise AttributeError(n)
print("real" in dir(I(3)))
import enum
class E(enum.Enum):
    A = 1
    @property
    def v(self): print("v ran"); return 1
print([n for n in dir(E.A) if not n.startswith("__")])
class X(Exception):
    @property
    def args(self): print("args ran"); return ()
    @property
    def add_note(self): print("an ran"); return ()
    def __getattr__(self, n): print("X ga", n); raise AttributeError(n)
print([n for n in dir(X()) if not n.startswith("__")])
