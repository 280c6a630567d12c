# SPDX-License-Identifier: MIT
x, y, name = 3, 2.5, "ab"
print(f"{x=} {y=:.2f} {name!r:>6} {name:<5}| {x:03d} {x:>4} {y:8.3f} {1234567:,} {0.25:.1%} {255:x} {255:#x} {5:b} {y:e}")
print(f"{x + 1} {'q' * 2} {[1, 2][0]} {{}} {x if x > 2 else y}")
w = 7
print(f"{name:>{w}} {y:{w}.{2}f} {'mid':^9}| {'f':*^7} {-3:+d} {3:+.1f}")
print("%d %s %r %5.2f %-4s| %04d %x %%" % (1, "a", "b", 1.234, "z", 7, 255))
print("%s" % "one", "%s" % (1,), "%(a)d" % {"a": 5})
print("{} {} {}".format(1, "b", 2.0), "{0}{1}{0}".format("x", "y"), "{a:.2f} {b!r}".format(a=1, b="s"), "{:>5}".format(3))
print(1e10, 1e16, 1e-5, 1.0, 0.1 + 0.2, 1e22, float("inf"), -0.0, 100000.0, 123456789.123, 7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, 2 ** -1, 1 / 3)
print(str(1.5), repr("it's"), repr('a"b'), repr("a\nb\t\\"), str(None), str(True), [1.0, "a", None, True], (1,), (), {}, {"a": 1}, {1, }, [[]])
print("a", "b", sep="-", end="!\n"); print(); print("x", end=""); print("y")
