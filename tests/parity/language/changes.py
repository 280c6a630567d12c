# Boxes that are changed while they are read, and what is deleted.
d = {0: 0}
for how in (d, d.items(), d.values()):
    try:
        for _ in how:
            del d[0]
            d[0] = 0
    except RuntimeError as e:
        print(e)
x = y = z = w = 1
del x,
del (y)
del (z, [w])
del ()
for name in "xyzw":
    print(name in globals())
z = [3, 1, 2]
try:
    z.sort(key=lambda v: z.append(v) or v)
except ValueError as e:
    print(e, z)
try:
    [].append(1, 2)
except TypeError as e:
    print(e)
for f in ({}.keys, {}.items, {}.popitem):
    try:
        f(1)
    except TypeError as e:
        print(e)
t = (1, 2)
print(t * 1 is t, tuple(t) is t, hasattr(t, "values"))
class Squares:
    def __getitem__(self, i):
        if i > 1000000:
            raise IndexError
        return i * i
for v in Squares():
    if v > 20:
        break
print(v, __annotations__)
size: int = 3
print(__annotations__)
class D(dict):
    pass
print(type(D().fromkeys("ab")), D.fromkeys("ab"))
class NoExit:
    def __enter__(self): pass
try:
    with NoExit(): pass
except TypeError as e:
    print(e)
