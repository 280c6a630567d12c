# SPDX-License-Identifier: MIT
# Operands that a sign refuses, and what the error calls them; classes among them.
try: print(format('a','=6'))
except ValueError as e: print(e)
for f in [lambda: object - 'x', lambda: object*2, lambda: int+1, lambda: -int, lambda: int<str, lambda: 2*type(None), lambda: int|3, lambda: int@2, lambda: Exception - 1, lambda: int//2, lambda: int**2, lambda: ~int,lambda:divmod(int,2), lambda: len-1, lambda: len<1, lambda: (lambda:1)+1, lambda: int.x, lambda: abs(int), lambda: range(3)+1, lambda: int[3], lambda: Exception[3]]:
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print('abc' % bytearray(b'a b'), 'abc' % {}, 'abc' % [], 'abc' % {'a':1}, 'abc' % range(3) if 0 else '')
for v in [(1,), 1, 's', b'q', bytearray(b's'), [1], {1:2}, {1}, range(2), None]:
    try: print(repr('abc' % v))
    except Exception as e: print(v, type(e).__name__, e)
    try: print(repr(b'abc' % v))
    except Exception as e: print(v, type(e).__name__, e)
{}.get
try: [].pop('q')
except Exception as e: print(e)
try: [1].pop('q')
except Exception as e: print(e)
class E(Exception):
    def __eq__(s,o): return True
try: print(hash(E()))
except Exception as e: print(type(e).__name__, e)
try: print({E():1})
except Exception as e: print(type(e).__name__, e)
class C(int): pass
for f in [lambda: 'a' in C(), lambda: list(C()), lambda: tuple(C(1)), lambda: sorted(C()), lambda: max(C()), lambda: sum(C()), lambda: iter(C()), lambda: dict(C()), lambda: set(C()),lambda: len(C()), lambda: C()[0], lambda: C()(), lambda: type(C())[3], lambda: C().x, lambda: next(C()), lambda: 7 in E(), lambda: enumerate(C()), lambda: list(zip(C())), lambda: map(str, C()), lambda: reversed(C())]:
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class G(str):
    __slots__=()
    def __getattr__(s,n): print('ga',n); raise AttributeError(n)
g=G()
try: del g.v
except AttributeError as e: print(e)
class H:
    def __getattr__(s,n): print('ga',n); raise AttributeError(n)
try: del H().v
except AttributeError as e: print(e)
print({False: 1, -0.0j: 2, 0j: 3}, {1: 1, 1+0j: 2}, {2.5: 1, 2.5+0j: 4, 1j: 2}[1j], (1+0j) in {1})
print('{0:n}|{0:%}|{1:%}|{2:.1%}'.format(123456.789, float('inf'), float('nan')))
for f in [lambda: -{}.values(), lambda: ~..., lambda: -NotImplemented, lambda: [*5], lambda: (*None,), lambda: '%i' % 'a', lambda: '%u' % {}, lambda: [1,'a'] >= [1,2], lambda: (1,2)<=(1,'a'), lambda: [[1],[2]]>=['b'], lambda: 'abc'.strip(b'a'), lambda: 'a'*1j, lambda: {}*'a', lambda: []*b'a', lambda: b'a'*'a', lambda: None*[1], lambda: format(1.0,'!'), lambda:format(3,'!'), lambda:format('a','!'), lambda: 'a' in ..., lambda: [float('nan')]<[float('nan')], lambda: [1,2]<[1,2,0], lambda:[1,2]>=[1,2], lambda: (1,)<(1,), lambda: [1]<=[1.0], lambda: 'x'*2.0, lambda: 2.0*[1]]:
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class E(Exception):
    def __eq__(s,o): return True
print(E.__hash__)
for t in (object, type(None), type, type(...), type(NotImplemented), type(lambda:1), type(len), property, staticmethod, slice, type(iter([])), BaseException, zip):
    for f in (lambda: t-'x', lambda: t*2, lambda: 2*t, lambda: t<1, lambda: t+t, lambda: -t, lambda: [1]+t, lambda: 'x'+t, lambda: 'x'*t,lambda: t['x'], lambda: 3 in t, lambda: len(t), lambda: list(t), lambda:float(t), lambda:int(t), lambda: t.foo):
        try: print(f())
        except Exception as e: print(t, type(e).__name__, e)
