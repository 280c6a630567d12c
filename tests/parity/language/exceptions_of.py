# SPDX-License-Identifier: MIT
# Exceptions as classes: fields, members, what they inherit.
class A(Exception):
    def __init__(self, m, n):
        super().__init__(m + str(n))
        self.n = n
try:
    raise A("x", 3)
except A as e:
    print(e, e.args, e.n)
class B(ValueError):
    def __init__(self, m):
        ValueError.__init__(self, m.upper())
        self.m = m
try:
    raise B("x")
except ValueError as e:
    print(e, e.args, e.m, repr(e))
class D(dict):
    def __init__(self, *a, **k):
        dict.__init__(self, *a, **k)
        self.x = 1
d = D({"a": 1}, b=2); print(d, d.x)
class L(list):
    def __init__(self, n):
        list.__init__(self, range(n))
print(L(3))
class O(object):
    def __init__(self):
        object.__init__(self)
O()
print(ValueError.__init__ is not None)
class E(Exception):
    code = 5
    def hello(self): return "hi " + str(self)
    def __str__(self): return "E:" + Exception.__str__(self)
    @property
    def up(self): return self.args[0].upper()
    @classmethod
    def make(cls, x): return cls(x)
    @staticmethod
    def st(x): return x + 1
class F(E):
    code = 6
    def hello(self): return "F" + super().hello()
    def __str__(self): return "F" + super().__str__()
e = E("x")
print(e.hello(), e, E.code)
print(e.code)
print(e.up)
print(E.st(1))
print(repr(E.make("q")))
f = F("y"); print(f, f.hello(), f.code)
e.code = 9; print(e.code, F.code)
e.extra = [1]; e.extra.append(2); print(e.extra, hasattr(e, "nope"))
e.args = ("new",); print(e.args, Exception.__str__(e))
try:
    raise SystemExit(3)
except SystemExit as s:
    print(s.code)
def g():
    yield 1
    return 7
it = g(); next(it)
try:
    next(it)
except StopIteration as s:
    print(s.value)
class H(KeyError): pass
try:
    raise H("k")
except KeyError as k:
    print(k, repr(k), k.args)
try:
    {}["zz"]
except KeyError as k:
    k.note = 1
    print(k, k.note, k.args)
try:
    int("x")
except ValueError as v:
    v.where = "here"; print(v, v.where, v.__class__.__name__)
class E(Exception):
    def __init__(self, m):
        super().__init__(m)
        self.code = 3
        self.message = "other"
        self.seq = 4
        self.line = 9
try:
    raise E("x")
except E as e:
    print(e, e.code, e.message, e.seq, e.line, e.args)
