# SPDX-License-Identifier: MIT
# Walrus and comprehensions, underscores of numbers, iterators that are asked for an item, and wrong calls of types.
# walrus in comprehensions, scopes
data = [1, 5, 2, 8, 3]
r = [y for x in data if (y := x * 2) > 4]
print(r, y)
print([(last := v) for v in data], last)
def f():
    total = 0
    parts = [total := total + v for v in data]
    return parts, total
print(f())
while (n := len(data)) > 3:
    data.pop()
print(n, data)
print({k: w for k in 'abc' if (w := k.upper()) != 'B'}, w)
print(any((hit := x) > 2 for x in data), hit)
print((a := 3) + (b := a * 2), a, b)
def g(x, *, y=(z := 10)):
    return x + y
print(g(1), z)
print([[j := i + k for k in range(2)] for i in range(3)], j)
if (m := {}.get('x')) is None: print('none', m)
print(f"{(q := 5)} {q!r:>4} {q:=+5}")
lst = [1, 2, 3, 4]
print([s := 0] + [s := s + v for v in lst])
try:
    exec("[i := 0 for i in range(3)]")
except SyntaxError as e:
    print(e.msg)
try:
    exec("class A:\n    [q := 1 for _ in range(2)]")
except SyntaxError as e:
    print(e.msg)
try:
    exec("[x for x in (y := [1])]")
except SyntaxError as e:
    print(e.msg)
for s in ("1._5", "1.5_", "1_.5", "1.5_0", "1_0.5", "0x_ff", "1e1_0","type(1,2)","type('A',3,{})","type(3,(),{})","int.__new__(str)","int.__new__(int, 5)","int.__new__(3)","tuple.__new__(list)","str.__new__(str, 'a')","dict.__new__(dict)","globals(1)","int.from_bytes(1)","int.from_bytes('a')","int.from_bytes(b'a')", "int.from_bytes([1,2], 'big')"):
    try: print(s, eval(s))
    except Exception as e: print(s, type(e).__name__, e)
class I(int): pass
class B(I): pass
print(int.__new__(I, 5), int.__new__(B, 5), object.__new__(I) if False else '')
for i in range(3):
    try: 1/0
    except ZeroDivisionError as e: pass
print(list(globals())[-4:])
g = (i for i in range(5)); print(2 in g, list(g))
m = map(str, range(5)); print('2' in m, list(m), 7 in iter([7, 8]))
class Cn:
    def __getitem__(self, i):
        print('get', i)
        if i > 5: raise IndexError
        return i
print(2 in Cn(), 9 in Cn())
import itertools
print(5 in itertools.count())
class X:
    def __iter__(self): return self
    n = 0
    def __next__(self): self.n += 1; return self.n
x = X(); print(3 in x, x.n, 4 not in x)
