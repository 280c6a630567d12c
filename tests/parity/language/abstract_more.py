# SPDX-License-Identifier: MIT
# Abstract members of every kind, and what wrappers say of their functions.
try:
    import functools, abc, inspect
except BaseException as _e: print('EXC', 1, type(_e).__name__, _e)
try:
    class A:
        @classmethod
        def c(cls): "dc"
        @staticmethod
        def s(): pass
        p=property(lambda s:1)
except BaseException as _e: print('EXC', 2, type(_e).__name__, _e)
try:
    print(A.__dict__['c'].__name__, A.__dict__['s'].__name__, A.__dict__['c'].__qualname__, A.__dict__['c'].__doc__, type(A.__dict__['p']), A.__dict__['c'].__wrapped__.__name__)
except BaseException as _e: print('EXC', 8, type(_e).__name__, _e)
try:
    class Ab(abc.ABC):
        @abc.abstractmethod
        def moved(self,by,times): pass
        twice=functools.partialmethod(moved,times=2)
        @functools.singledispatchmethod
        @abc.abstractmethod
        def sd(self, x): pass
        @property
        @abc.abstractmethod
        def pr(self): pass
        @classmethod
        @abc.abstractmethod
        def cl(cls): pass
except BaseException as _e: print('EXC', 9, type(_e).__name__, _e)
try:
    print(Ab.moved.__isabstractmethod__, Ab.twice.__isabstractmethod__, Ab.sd.__isabstractmethod__, Ab.__abstractmethods__==frozenset(['moved','twice','cl','pr','sd']), Ab.__dict__['cl'].__isabstractmethod__)
except BaseException as _e: print('EXC', 22, type(_e).__name__, _e)
try:
    try: Ab()
    except TypeError as e: print(e)
except BaseException as _e: print('EXC', 23, type(_e).__name__, _e)
try:
    @functools.lru_cache
    def f(a:int)->str: return a
except BaseException as _e: print('EXC', 25, type(_e).__name__, _e)
try:
    print(f.__annotations__, f.__name__, f.__qualname__)
except BaseException as _e: print('EXC', 27, type(_e).__name__, _e)
try:
    def g(): yield 1
except BaseException as _e: print('EXC', 28, type(_e).__name__, _e)
try:
    it=g()
except BaseException as _e: print('EXC', 29, type(_e).__name__, _e)
try:
    for bad in (lambda: setattr(it,"__name__",3), lambda: delattr(it,"__name__")):
        try: bad()
        except TypeError as e: print(e)
except BaseException as _e: print('EXC', 30, type(_e).__name__, _e)
try:
    class E(Exception):
        def __new__(cls,*a): return cls
except BaseException as _e: print('EXC', 33, type(_e).__name__, _e)
try:
    try: it.throw(E)
    except TypeError as e: print(str(e)[:8], list(it))
except BaseException as _e: print('EXC', 35, type(_e).__name__, _e)
