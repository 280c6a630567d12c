# SPDX-License-Identifier: MIT
# Patterns over sequences, mappings and classes of the program's own, and their refusals.
from collections.abc import Sequence, Mapping
from collections import UserDict, UserList, ChainMap, OrderedDict, Counter, deque
import types
class S(Sequence):
    def __len__(self): return 2
    def __getitem__(self, i):
        if i > 1: raise IndexError
        return i * 10
class M(Mapping):
    d = {'a': 1, 'b': 2}
    def __getitem__(self, k): return self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return 2
class I(int): pass
class St(str): pass
def t(v):
    match v:
        case I(x): return f'I {x}'
        case St(x): return f'St {x}'
        case bytes(b): return f'bytes {b}'
        case frozenset(f): return f'fs {f}'
        case [a, b]: return f'seq {a} {b}'
        case {'a': 1, **r}: return f'map {sorted(r.items())}'
        case {'z': _}: return 'z'
        case set(x): return f'set {x}'
    return 'none'
for v in (S(), M(), I(3), St('q'), b'x', frozenset([1]), {1}, UserDict(a=1, b=3), UserList([1, 2]), ChainMap({'a': 1}), types.MappingProxyType({'a': 1}), memoryview(b'ab'), OrderedDict(a=1), range(2), bytearray(b'ab'), deque([1, 2]), Counter('z')):
    print(type(v).__name__, t(v))
class A: __match_args__ = ('x', 3)
class B: pass
a = A(); a.x = 1
for f in ("A(1, 2)", "B(1)", "int(1, 2)"):
    try:
        exec(f"match a:\n    case {f}: print('yes')\n    case _: print('no')", {'a': a if f[0] == 'A' else B() if f[0] == 'B' else 3 if f[0] == 'i' else {'a': 1}, 'A': A, 'B': B})
    except (TypeError, ValueError, SyntaxError) as e: print(type(e).__name__, e)
class P:
    @property
    def q(self): raise ValueError('prop')
try:
    match P():
        case P(q=1): pass
except ValueError as e: print(e)
print(type('D', (), {'__doc__': 'text'}).__doc__, type('E', (), {}).__doc__)
