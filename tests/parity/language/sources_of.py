# SPDX-License-Identifier: MIT
# inspect.getsource and what else says where functions and classes stand.
import inspect, functools, sys
# a comment
# two lines
def plain(a,
          b=(1,
             2)):
    """doc
no indent here
    """
    # inside
    x = [
1,
    ]

    return x
    # trailing deep
# outer comment
@functools.lru_cache(maxsize=None)
@functools.wraps(plain)
def deco(n): return n

class Outer:
    y = 1
    @property
    def p(self):
        return 1
    class Inner(dict):
        "doc"
        def m(self): 
            s = """
x = 3
"""
            return s

        @staticmethod
        def st(): pass

    def after(self): pass
f = lambda q: q + 1
def maker():
    class Local: z = 2
    def inner():
        return inspect.stack()[0].function, [s.function for s in inspect.stack()], inspect.currentframe().f_back.f_code.co_name
    return Local, inner
for o in (plain, Outer, Outer.Inner, Outer.Inner.m, Outer.Inner.st, Outer.after, Outer().after, f, maker()[0], maker()[1], maker, deco):
    print(inspect.getsourcelines(o)[1], repr(inspect.getsource(o)))
print(maker()[1](), inspect.getcomments(plain), inspect.getmodule(plain).__name__, inspect.getfile(plain) == __file__, inspect.getsourcefile(Outer) == __file__)
for bad in (len, dict, 3):
    try: print(inspect.getsource(bad))
    except (TypeError, OSError) as e: print(type(e).__name__, e)
print(inspect.stack()[0].code_context, inspect.stack()[0][3], len(inspect.getsource(sys.modules["__main__"])) > 500)
