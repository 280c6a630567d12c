# What signs, formats and rounding give at the boundaries of the core's types.
def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, e)


nan, inf = float("nan"), float("inf")
for a, b in ((inf, 2), (-inf, 2.5), (5e-324, -(2**63)), (-0.0, 1e300),
             (7.5, -2), (1, inf), (-1, inf), (1e300, 3)):
    show(lambda: a // b)
for v, n in ((-0.5, 0), (2**63 - 1, -2), (-(2**63), -1), (10**20 + 5, -1),
             (15, -1), (25, -1), (1234.5, -2), (2.5, None), (1e300, None),
             (inf, None), (nan, None), (-0.0, 3)):
    show(lambda: round(v, n))
show(lambda: -0.0j)
show(lambda: complex(1, -0.0))
for v in (1, 1.5, True, {1}, {}.keys(), range(3), ..., NotImplemented, [1],
          (1,), b"a", "a", 1j):
    for w in ({1: 2}, {3}, [1, 2], range(2), ..., NotImplemented, "b", 2**70):
        show(lambda: v | w)
        show(lambda: v + w)
        show(lambda: v % w if not isinstance(v, (str, bytes)) else None)
        show(lambda: v < w)
for v, spec in (("é€x", ".2"), ("a", "+"), ("a", " "), ("a", "=5"), ("a", "#"),
                ("a", "05"), ("a", ",s"), (True, "5"), (True, "s"), (True, "d"),
                (5, ".2"), (5, ".2f"), (5, "5.5.5"), (b"a", "5"), ([1], "x"),
                (None, "5"), (..., "d"), (2.5, "d")):
    show(lambda: format(v, spec))
for f in (chr, hex, bin, oct):
    for v in ("a", 1.5, True, -1, 2**70, 255, None):
        show(lambda: f(v))
show(lambda: ord(b"ab"))
show(lambda: ord(b"a"))
show(lambda: divmod(1))
show(lambda: list(enumerate("ab", 2**63 - 1)))
show(lambda: list(enumerate("ab", "x")))
show(lambda: max([1, "a"]))
for v in (..., NotImplemented, 2**70, 1j):
    show(lambda: len(v))
show(lambda: {1}.__contains__(1))
show(lambda: {1, 2} in {frozenset([1, 2])})
show(lambda: {1: 2}.keys() | [1])
show(lambda: {1: 2}.keys() & (1, 3))
print(repr("\x00\x1b\x7f\x85\u200b\U000e0001é"), ascii("é\x00"))
for name in ("find", "rindex", "count", "strip"):
    show(lambda: getattr(b"abc", name)("a"))
