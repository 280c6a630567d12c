# The class of every kind of value.
def f(): pass
class A:
    def m(self): pass
for v in [f, len, A().m, A, int, type, A(), [].append, None, ..., NotImplemented, slice(1), (i for i in []), f.__class__, type(f), object, object(), Exception, Exception("a"), property, staticmethod, __import__("types") if False else 3, super, {}.keys(), range, enumerate([])]:
    try: print(type(v), type(v).__name__)
    except Exception as e: print("ERR", e)
print(type(object), type(type), type(A).__name__, type(3).__name__, isinstance(f, type(f)), isinstance(len, type(f)), isinstance(A, type), isinstance(3, type), isinstance(int, type), isinstance(object, type), type(A()) is A, type(A()) == A, issubclass(bool, int), issubclass(A, object), int.__name__, object.__name__, type.__name__)
print(A, A(), f) if False else None
