# SPDX-License-Identifier: MIT
# vars() of types, bytearrays changed in place, blanks of bytes, keys of bytes in %.
print(sorted(k for k in vars(bool) if k != '__doc__' and k != '__new__' and k != '__repr__'), 'append' in vars(list), '__and__' in vars(bool))
for v in (3, None, [], 'a'):
    try: vars(v); print('no')
    except TypeError as e: print(e)
a = bytearray(b'abc'); b = a; a += b'def'; print(b, a is b); a *= 2; print(b); a[0] = 65; print(b, b[-1])
l = [1, 2, [3]]; print(2 in l, [3] in l, 4 in l, 2.0 in (1, 2), 'a' in ('b', 'a'))
class L(list):
    def __contains__(self, x): return x == 'all'
print('all' in L(), 1 in L([1]))
for s in (b'a\x1cb', b'\x1c\x1d', b' a\x0bb\x0c', b'\x85a'):
    print(s.split(), s.rsplit(), s.strip(), s.isspace(), s.split(None, 1))
for s in ('a\x1cb', '\x1c\x1d', ' a\x0bb', '\x85a', 'a\u2003b'):
    print(ascii(s.split()), ascii(s.strip()), s.isspace())
print(b'%(foo)s' % {b'foo': b'x'}, b'%d %s %r %a %c %x' % (3, b'q', 'é', 'é', 65, 255), b'%b' % b'z')
for f in ("b'a'.startswith([b'a'])", "bytearray(b'a')['x']", "b'a'['x']", "b'%s' % 'a'", "b'ab'.hex('é')", "bytearray(b'a').append(300)"):
    try: print(f, eval(f))
    except Exception as e: print(f, type(e).__name__, e)
