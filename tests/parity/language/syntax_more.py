"""Signs in texts after a comma, escapes in f-strings, stars in brackets, match of
... and properties' words, reversed() of a sequence of the program's."""
import functools
x = 'a', ':', 'b', '=', ')'
print(x)
for s in ',', ':': print(s, end=' ')
print(f'\x7b1+1}}', f"{'m' if 0 else 'q'}\t|", rf'\t{1}\n', f'{3=}', f'{x[0]!r:>6}\\', f'a\'{1}\u20ac', f"""
{2}""")
match ...:
    case _: print('ellipsis')
def f(*a): 
    return a
d = {}
class G:
    def __class_getitem__(cls, i): return i
t = (1, 2)
print(G[*t], G[0, *t], G[*t, 5])
class R:
    def __len__(self): return 3
    def __getitem__(self, i): return i * 2
print(list(reversed(R())))
class P:
    @property
    def a(self):
        "the doc"
        return 1
    @a.setter
    def a(self, v): print('set', v)
    @a.deleter
    def a(self): print('del')
    b = property(None, lambda s, v: print('b', v), doc='text')
p = P(); p.a = 2; del p.a; p.b = 3
print(P.a.__doc__, P.b.__doc__)
try: p.b
except AttributeError as e: print(e)
@functools.lru_cache(typed=True)
def sq(x): return x * x
print(sq(x=3), sq(x=3.0), sq(3), sq(3.0), sq.cache_info().misses)
