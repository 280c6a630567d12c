# Signs, calls and assignments where the short ways end: sums that leave 64 bits,
# zero, booleans, methods that an object overrides, swapped names.
big = 2**63 - 1
print(big + 1, -big - 2, big * 2, -big * big, 2**32 * 2**32, big - -1)
print(7 // -2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, -7.5 % 2, True + 1, 3 * True)
for text in ("1 // 0", "1 % 0", "1.0 % 0", "1 + '1'", "'a' < 1", "[] + ()"):
    try:
        print(eval(text))
    except Exception as e:
        print(type(e).__name__, e)
nan = float("nan")
print(nan == nan, nan != nan, nan < 1, 1 < nan, 1 == 1.0, "a" == 1, 2**53 + 1 == 2.0**53)
x = big
x += 1
print(x, 2**53 + 1 > 2.0**53, 0.1 + 0.2, 3 - 0.5, 2 * 1.5, True == 1, True < 2)


class A:
    def m(self, a=1, *, b=2):
        return "m", a, b

    @staticmethod
    def s(x):
        return "s", x

    @classmethod
    def c(cls, x):
        return cls.__name__, x

    def __getattr__(self, name):
        return lambda *a: (name, a)


a = A()
print(a.m(), a.m(3), a.m(b=4), a.s(1), a.c(2), a.other(5))
a.m = lambda *args: ("own", args)
print(a.m(1))
try:
    A().m(1, 2, 3)
except TypeError as e:
    print(e)
try:
    A().m(1, c=3)
except TypeError as e:
    print(e)


class L(list):
    def append(self, x):
        super().append(x * 2)


v = L()
v.append(2)
print(v, [3, 1, 2].index(1), "a-b".split("-"), {"k": 1}.get("z", 0))
p, q = 1, 2
p, q = q, p
i, row = 0, [5, 6]
i, row[i] = 1, 9
print(p, q, i, row)


def f(n):
    a, b = 0, 1
    while a < n:
        a, b = b, a + b
    (c, d), [e, *g] = (a, b), "xyz"
    return a, b, c, d, e, g


print(f(100))


def order(log, x):
    log.append(x)
    return log


log = []
order(log, 1).append(order(log, 2)[0])
print(log)
print(isinstance(True, bool), isinstance(True, int), isinstance(1, bool), isinstance(1.0, int), isinstance("a", (int, str)),
      isinstance([], list), isinstance(L(), list), isinstance(frozenset(), set), isinstance(a, A))
for bad in (lambda: (lambda a, b: 0)(1), lambda: (lambda: 0)(1), lambda: [].append(), lambda: "a".nope()):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e)
nums = [frozenset()]
for i in range(40):                 # a hash that is kept, or 2 ** 40 turns
    nums.append(frozenset(nums))
print(len({hash(n) for n in nums}), nums[3] in set(nums), hash(frozenset([1, 2])) == hash(frozenset([2, 1])))
