# SPDX-License-Identifier: MIT
# How far generators are, and what classes below types of data hand on to them.
try:
    import inspect
except BaseException as _e: print('EXC', 1, type(_e).__name__, _e)
try:
    def g():
        print(inspect.getgeneratorstate(it), it.gi_running)
        yield 1
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    it=g()
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    print(inspect.getgeneratorstate(it), it.gi_running, it.gi_suspended)
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    next(it)
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    print(inspect.getgeneratorstate(it), it.gi_running)
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    it.close()
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    print(inspect.getgeneratorstate(it), it.gi_frame)
except BaseException as _e: print('EXC', 5, type(_e).__name__, _e)
try:
    it=g()
except BaseException as _e: print('EXC', 6, type(_e).__name__, _e)
try:
    it.__name__="nm"
except BaseException as _e: print('EXC', 6, type(_e).__name__, _e)
try:
    print(it.__name__, it.__qualname__)
except BaseException as _e: print('EXC', 6, type(_e).__name__, _e)
try:
    class E(Exception):
        def __new__(cls,*a): return cls
except BaseException as _e: print('EXC', 7, type(_e).__name__, _e)
try:
    it=g()
except BaseException as _e: print('EXC', 9, type(_e).__name__, _e)
try:
    try: it.throw(E)
    except TypeError as e: print(str(e)[:20])
except BaseException as _e: print('EXC', 10, type(_e).__name__, _e)
try:
    for base in (list, tuple, set, frozenset, float, dict):
        class A(base):
            def __init__(self, x, newarg=None): 
                if base in (list,set,dict): super().__init__(x)
                self.newarg=newarg
        class B(base):
            def __new__(cls, x, newarg=None):
                o=super().__new__(cls, x); o.newarg=newarg; return o
        class C(base): pass
        x = 2.5 if base is float else [(1,2)]
        print(base.__name__, A(x,newarg=3).newarg, list(A(x)) if base is not float else A(x))
        try: print(B(x,newarg=4).newarg, B(x, newarg=2)==base(x))
        except TypeError as e: print(e)
        try: print(C(x,newarg=4))
        except TypeError as e: print(e)
except BaseException as _e: print('EXC', 12, type(_e).__name__, _e)
try:
    class MyI(int):
        def __init__(self, *a, **k): pass
except BaseException as _e: print('EXC', 27, type(_e).__name__, _e)
try:
    print(MyI("ff", base=16), "%.1f|%g|%e" % (-0.0, -0.0, -0.0))
except BaseException as _e: print('EXC', 29, type(_e).__name__, _e)
