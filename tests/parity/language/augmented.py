# SPDX-License-Identifier: MIT
class A:
    def __eq__(self, o): return NotImplemented
class B:
    def __ne__(self, o): return "B.ne"
print(A() != B(), 1 != B(), object() != B(), [1] != B(), None != B(), B() != B())
class E2(A): pass
print(A() != A(), A() == A(), E2() != A())
class P:
    def __eq__(self, o): print("P.eq"); return True
class Q(P):
    def __ne__(self, o): print("Q.ne"); return NotImplemented
print(P() != Q())
def f():
    print("f"); return 0
class O: pass
o = O(); o.v = 1; o.l = [1, 2]
def g(): print("g"); return o
l=[1,2]; l[f()] += 1; print(l)
g().v += 2; print(o.v)
g().l[f()] -= 5; print(o.l)
g().l[f():2] += [9]; print(o.l)
d = {}
try: d[f()] += 1
except KeyError as e: print("KeyError", e)
def h():
    try: z += 1
    except UnboundLocalError as e: print(e)
    z = 1
    z *= 5; z -= 2.5; z //= 1
    return z
print(h())
class I:
    def __init__(self, x): return x
try: I(3)
except TypeError as e: print(e)
print(type(I(None)).__name__)
try: I()
except TypeError as e: print(e)
try: I(1, 2)
except TypeError as e: print(e)
def many(a, b, c, d, e=5): return (a, b, c, d, e)
print(many(1, 2, 3, 4), many(1, 2, 3, 4, 6))
print((lambda a, b, c, d: a + b + c + d)(1, 2, 3, 4))
