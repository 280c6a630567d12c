# SPDX-License-Identifier: MIT
# Exceptions' classes with their own __init__; what is called; a quotient by zero.
from fractions import Fraction as F
for a,b in ((F(2),F(0)),(F(-3,4),0),(F(0),F(0)),(F(5,6),F(0))):
    try: a/b
    except ZeroDivisionError as e: print(e)
class X(SystemExit):
    def __init__(self, m): super().__init__(m + 1); self.m = m
try: raise X(2)
except SystemExit as e: print(e.code, e.args, e.m)
class P(SyntaxError):
    def __init__(self, m, pos): super().__init__(m); self.pos = pos
e = P("a", 3); print(e, e.args, e.msg, e.pos, repr(e))
class C:
    @property
    def p(self): pass
    @classmethod
    def c(cls): pass
    @staticmethod
    def s(): pass
    def f(self): pass
print([(k, callable(v)) for k, v in vars(C).items() if k[0] != "_"])
