# SPDX-License-Identifier: MIT
# What object.__new__ takes and refuses.
try:
    class C: pass
except BaseException as _e: print('EXC', 1, type(_e).__name__, _e)
try:
    class D:
        def __new__(cls,*a,**k): return super().__new__(cls,*a,**k)
        def __init__(self,*a,**k): pass
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    class E:
        def __new__(cls,*a,**k): return object.__new__(cls)
        def __init__(self,*a,**k): self.a=a
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    class F:
        def __init__(self,x): self.x=x
except BaseException as _e: print('EXC', 8, type(_e).__name__, _e)
try:
    class G(E):
        def __new__(cls, *a): return super().__new__(cls, *a)
except BaseException as _e: print('EXC', 10, type(_e).__name__, _e)
try:
    class S:
        _i=None
        def __new__(cls, *a, **k):
            if cls._i is None: cls._i=super().__new__(cls)
            return cls._i
        def __init__(self, v): self.v=v
except BaseException as _e: print('EXC', 12, type(_e).__name__, _e)
try:
    for f in (lambda: C(1), lambda: D(42), lambda: D(), lambda: E(1).a, lambda: object.__new__(F, 1), lambda: F.__new__(F), lambda: G(5).a, lambda: (S(1) is S(2), S(3).v), lambda: object.__new__(C, 3), lambda: C.__new__(C, x=1)):
        try:
            r=f(); print(r if not hasattr(r,"__dict__") else type(r).__name__)
        except TypeError as e: print(e)
except BaseException as _e: print('EXC', 18, type(_e).__name__, _e)
