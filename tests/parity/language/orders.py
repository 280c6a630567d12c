"""Decorators are asked from the top; sets with views; raise without a name."""
log = []
def deco(n):
    log.append(("make", n))
    def inner(f):
        log.append(("call", n))
        return f
    return inner
@deco(1)
@deco(2)
@deco(3)
def f(): pass
@deco(4)
@deco(5)
class C: pass
print(log)
d = {"a": 1, "b": 2}
for v in (d.keys() & frozenset("a"), frozenset("ab") - d.keys(), frozenset("c") | d.keys(), d.keys() ^ {"a"}, frozenset("a") ^ d.keys(), d.items() & frozenset([("a", 1)]), frozenset("a") & {"a"}, {"a"} & frozenset("a")):
    print(type(v).__name__, sorted(v))
def nested(): raise
try:
    try: raise TypeError("foo")
    except TypeError: nested()
except TypeError as e: print("again", e)
try:
    try: raise TypeError("foo")
    finally: raise
except RuntimeError as e: print("RuntimeError", e)
except TypeError as e: print("TypeError", e)
