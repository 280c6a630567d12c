# SPDX-License-Identifier: MIT
# Each operator on each pair of numbers at the edges of their kinds.
import itertools
import math
from lib.answers import answer

INTS = [0, 1, -1, 2, -3, 7, 63, 64, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 10**20, -10**30]
SMALL = [0, 1, -1, 2, -3, 7, 64, True, False]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, -3.5, 1e16, 1e300, 5e-324, math.inf, -math.inf, math.nan, 2.0**53, 2.0**63]
signs = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "//": lambda a, b: a // b, "%": lambda a, b: a % b,
    "divmod": lambda a, b: divmod(a, b) if b != 0 else None,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b}
for sign, f in signs.items():
    for a in INTS + FLOATS:
        print(sign, a, [answer(lambda: f(a, b)) for b in (INTS[:4] + INTS[4::3] + FLOATS[::2])])
whole = {"&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b}
for sign, f in whole.items():
    for a in INTS + [True, 1.0]:
        print(sign, a, [answer(lambda: f(a, b)) for b in INTS[1::2]])
for a in INTS + [True, 1.5]:
    print("shift", a, [answer(lambda: a << b) for b in (0, 1, 2, 62, 63, 64, 65, -1)],
          [answer(lambda: a >> b) for b in (0, 1, 2, 62, 63, 64, 65, 200, -1)])
    print("pow", a, [answer(lambda: a ** b) for b in (0, 1, 2, 3, 5, -1, -2, 0.5, True)],
          [answer(lambda: pow(a, b, m)) for b in (0, 1, 5, -1) for m in (1, 2, 7, -7, 0, 10)])
    print("one", a, answer(lambda: -a), answer(lambda: +a), answer(lambda: ~a), abs(a), bool(a), not a, int(a), float(a), hash(a), answer(lambda: a.bit_length()), answer(lambda: bin(a)), answer(lambda: oct(a)), answer(lambda: hex(a)), answer(lambda: a.bit_count()))
    print("round", a, [answer(lambda: round(a, n)) for n in (None, 0, 1, 2, -1, -2, -3, -19, -20)])
for a in FLOATS[:12] + FLOATS[13:] + [1.25, 2.675, 1234.5678, -0.05, 15.0, 25.0, 1e22, 123456789012345680.0]:
    print("float", a, [answer(lambda: round(a, *n)) for n in ((), (None,), (0,), (1,), (2,), (-1,), (-2,), (400,), (-400,))],
          answer(lambda: int(a)), math.isfinite(a), answer(lambda: math.floor(a)), answer(lambda: math.ceil(a)), answer(lambda: math.trunc(a)), answer(lambda: a.is_integer()), a == a and answer(lambda: a.as_integer_ratio()), a.hex(), math.copysign(1, a), answer(lambda: math.frexp(a)), answer(lambda: math.modf(a)), hash(a) if a == a else "", answer(lambda: math.sqrt(a)), answer(lambda: math.fmod(a, 2)), answer(lambda: a ** 2), answer(lambda: a ** -1), answer(lambda: a ** 0), answer(lambda: 2 ** a))
for text in ["0", "-0", "+7", " 12 ", "1_000", "1__0", "_1", "1_", "0x1f", "0b101", "0o17", "1e3", "1.5", "", " ", "z", "٣", "9" * 25, "-" + "9" * 19, "0b2", "0X1F", "--1", "1 2", "\n5\t", "nan", "-inf", "Infinity", "1e400", "1e-400", ".5", "5.", ".", "1_0.5_0", "0x1p3", "infin", "1e", "1e+", "1d5"]:
    print(repr(text), answer(lambda: int(text)), [answer(lambda: int(text, b)) for b in (0, 2, 8, 10, 16, 36, 1, 37)], answer(lambda: float(text)))
print([answer(lambda: (n).to_bytes(k, o, signed=s)) for n in (0, 1, 255, 256, -1, -128, -129) for k in (0, 1, 2) for o in ("big", "little") for s in (False, True)])
print([int.from_bytes(b, o, signed=s) for b in (b"", b"\x00", b"\x80", b"\xff\x7f", b"\x01\x00\x00") for o in ("big", "little") for s in (False, True)])
C = [0j, 1j, 1 + 2j, -0.5 - 1j, complex(math.inf, 0), complex(0, math.nan)]
for a in C:
    print("complex", a, [[answer(lambda: f(a, b)) for b in C[:4] + [0, 2, -1.5, True]] for f in (signs["+"], signs["-"], signs["*"], signs["/"], signs["=="], signs["<"], signs["//"])], answer(lambda: abs(a)), a.conjugate(), -a, bool(a), str(a), abs(a) < math.inf and [a ** n for n in (0, 1)])
for f, many in (("gcd", 3), ("lcm", 3), ("comb", 2), ("perm", 2), ("hypot", 2), ("dist", 0)):
    for args in itertools.product((0, 1, -4, 6, 10**20), repeat=many):
        if many and not (f in ("comb", "perm") and max(args) > 100):
            print(f, args, answer(lambda: getattr(math, f)(*args)))
print([answer(lambda: math.isqrt(n)) for n in (0, 1, 2, 3, 4, 15, 16, 17, 10**20, 10**20 - 1, 2**64 - 1, -1, 2.0)])
print([answer(lambda: math.factorial(n)) for n in (0, 1, 5, 20, 21, 25, -1, 2.0)])
print([math.isclose(a, b, rel_tol=r, abs_tol=t) for a, b in ((1, 1), (1, 1.1), (0, 1e-9), (math.inf, math.inf), (math.inf, 1), (math.nan, math.nan)) for r in (1e-9, 0.1) for t in (0, 1e-8)])
