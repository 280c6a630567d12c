# SPDX-License-Identifier: MIT
# Bound methods are equal and have a hash; stars in the bases of a class; the
# cell of super() in __set_name__.
class A:
    def f(self): pass
    def __eq__(self, o): return True
    __hash__ = None
a=A(); b=A()
class P:
    def g(self): pass
    @classmethod
    def c(cls): pass
p=P(); q=P()
print(a.f==a.f, a.f==b.f, p.g==p.g, p.g==q.g, p.g!=p.g, P.c==p.c, p.g is p.g, hash(p.g)==hash(p.g), {p.g:1}.get(p.g), p.g in [p.g], p.g in {p.g}, len({p.g,p.g}))
l=[p.g]; l.remove(p.g); print(l, len==len)
d={'metaclass':type}
class Z(*(A,P), **d): pass
print(Z.__mro__, Z.__bases__)
class D:
    def __set_name__(s,o,n): s.r=o.hello()
class Base:
    @classmethod
    def hello(cls): return "base"
class W(Base):
    @classmethod
    def hello(cls): return "W"+super().hello()
    d=D()
print(W.__dict__["d"].r)
