# SPDX-License-Identifier: MIT
import weakref, gc
class W:
    def hi(self): return "hi"
    def __init__(self, n=0): self.n = n
    def __repr__(self): return f"W({self.n})"
w = W(); r = weakref.ref(w, lambda ref: print("died")); print(r() is w, weakref.getweakrefcount(w)); wm = weakref.WeakMethod(w.hi); print(wm()()); d = weakref.WeakValueDictionary(a=w); kd = weakref.WeakKeyDictionary({w: 1}); ws = weakref.WeakSet([w]); p = weakref.proxy(w); print(len(d), len(kd), len(ws), p.hi(), d["a"], kd[w], w in ws, p.n); fin = weakref.finalize(w, print, "finalized", 1); print(fin.alive)
del w; print(r(), len(d), len(kd), len(ws), fin.alive, "a" in d, d.get("a"), list(ws))
for f in (lambda: weakref.ref(5), lambda: weakref.ref([]), lambda: weakref.ref("a"), lambda: weakref.ref({}), lambda: weakref.ref(()), lambda: p.hi(), lambda: weakref.ref(None), lambda: d["a"]):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class Node:
    def __init__(self, v, parent=None): self.v, self.kids = v, []; self._p = weakref.ref(parent) if parent else None; parent and parent.kids.append(self)
    @property
    def parent(self): return self._p() if self._p else None
root = Node(1); k = Node(2, root); print(k.parent.v, root.parent); root = None; print(k.parent)
def mk():
    a = W(3); return weakref.ref(a)
print(mk()())
cache = weakref.WeakValueDictionary()
def get(n):
    o = cache.get(n)
    if o is None: o = cache[n] = W(n)
    return o
x = get(1); y = get(1); print(x is y, len(cache)); z = get(2); print(sorted(cache)); x = y = None; print(sorted(cache), dict(cache.items()))
a = W(1); print(weakref.ref(a) is weakref.ref(a), weakref.ref(a) == weakref.ref(a), hash(weakref.ref(a)) == hash(a), {weakref.ref(a): 1}[weakref.ref(a)], isinstance(weakref.ref(a), weakref.ReferenceType), callable(weakref.ref(a)))
b = [weakref.ref(W(i)) for i in range(3)]; print([q() for q in b])
s = weakref.WeakSet(); l = [W(i) for i in range(4)]; [s.add(q) for q in l]; l.pop(); print(len(s), sorted(q.n for q in s)); s.discard(l[0]); print(len(s))
class Ev:
    def __init__(self): self.subs = weakref.WeakSet()
    def fire(self): return sorted(q.n for q in self.subs)
e = Ev(); q1, q2 = W(7), W(8); e.subs.add(q1); e.subs.add(q2); print(e.fire()); del q1; print(e.fire())
f = weakref.finalize(q2, lambda *a: print("fin", a), 1, 2); print(f.peek()[1:] != (), f.detach() is not None, f.alive)
g = weakref.finalize(e, print, "at exit"); fn = lambda: 1; print(weakref.ref(fn)()()); import types; print(type(weakref.proxy(fn)).__name__, weakref.proxy(fn)())
