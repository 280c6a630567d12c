# SPDX-License-Identifier: MIT
# Keyword arguments of exceptions, and what an ImportError tells.
class P(ImportError):
    def __init__(self, a, **kw):
        super().__init__(a, **kw)
class Q(ValueError):
    def __init__(self, a, k=1):
        super().__init__(a)
        self.k = k
def t(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__, e)
t(lambda: ValueError("x", a=1))
t(lambda: KeyError(a=1))
t(lambda: ImportError("x", nam=1))
t(lambda: ImportError("x", name="n", path="p").name)
t(lambda: ImportError("x", name="n", path="p").path)
t(lambda: ImportError("x", name="n").msg)
t(lambda: ImportError("a", "b").msg)
t(lambda: ImportError().msg)
t(lambda: AttributeError("x", name="n", obj=3).obj)
t(lambda: AttributeError("x", name="n", obj=3).name)
t(lambda: AttributeError("x", nam="n"))
t(lambda: NameError("x", name="n").name)
t(lambda: NameError("x", obj="n"))
t(lambda: P("z", name="q").name)
t(lambda: P("z", nme="q").name)
t(lambda: Q("z", k=4).k)
t(lambda: OSError(2, "x", filename="f"))
t(lambda: SyntaxError("x", a=1))
t(lambda: SystemExit(code=1))
t(lambda: Q("z", j=4).k)
try:
    import nosuch
except ImportError as e:
    print(e.name, e.path, e.msg)
try:
    raise ImportError("no", name="a", path="b")
except ImportError as e:
    print(e.name, e.path, e.msg, e.args)
e = ImportError()
print(e.name, e.path, e.msg, e.args, repr(e), str(e))
e = ImportError("a", "b")
print(e.name, e.path, e.msg, e.args, repr(e), str(e))
try: ImportError("x", nam=1)
except TypeError as t: print(t)

e = ModuleNotFoundError("q", name="z")
print(e.name, e.msg)
