# SPDX-License-Identifier: MIT
# How arguments meet parameters: every call shape on every signature.
from lib.answers import answer


def f0(): return ()
def f1(a): return a
def f2(a, b=2): return a, b
def f3(a, /, b): return a, b
def f4(a, *, b): return a, b
def f5(a, *r): return a, r
def f6(a, **k): return a, k
def f7(a, b=2, *r, c, d=4, **k): return a, b, r, c, d, k
def f8(a, /, **k): return a, k
def f9(*r, **k): return r, k
def f10(a=1, b=2, c=3): return a, b, c
def f11(a, b, /, c, *, d): return a, b, c, d
def f12(*, a, b=1): return a, b


calls = {
    "()": lambda f: f(), "(1)": lambda f: f(1), "(1, 2)": lambda f: f(1, 2), "(1, 2, 3)": lambda f: f(1, 2, 3),
    "(1, 2, 3, 4)": lambda f: f(1, 2, 3, 4), "(a=1)": lambda f: f(a=1), "(b=1)": lambda f: f(b=1),
    "(1, a=2)": lambda f: f(1, a=2), "(1, b=2)": lambda f: f(1, b=2), "(1, c=2)": lambda f: f(1, c=2),
    "(1, z=2)": lambda f: f(1, z=2), "(a=1, b=2)": lambda f: f(a=1, b=2), "(b=1, a=2)": lambda f: f(b=1, a=2),
    "(1, 2, c=3)": lambda f: f(1, 2, c=3), "(1, 2, c=3, d=4)": lambda f: f(1, 2, c=3, d=4),
    "(1, 2, 3, d=4)": lambda f: f(1, 2, 3, d=4), "(*[])": lambda f: f(*[]), "(*[1, 2])": lambda f: f(*[1, 2]),
    "(1, *[2, 3])": lambda f: f(1, *[2, 3]), "(*[1], 2)": lambda f: f(*[1], 2), "(**{})": lambda f: f(**{}),
    "(**{a})": lambda f: f(**{"a": 1}), "(1, **{a})": lambda f: f(1, **{"a": 1}),
    "(a=1, **{a})": lambda f: f(a=1, **{"a": 2}), "(**{a}, **{b})": lambda f: f(**{"a": 1}, **{"b": 2}),
    "(**{a}, **{a})": lambda f: f(**{"a": 1}, **{"a": 2}), "(**{1})": lambda f: f(**{1: 2}),
    "(*5)": lambda f: f(*5), "(**5)": lambda f: f(**5), "(*'ab')": lambda f: f(*"ab"),
    "(*[1], *[2], x=1, y=2)": lambda f: f(*[1], *[2], x=1, y=2)}
for f in (f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12):
    for text, call in calls.items():
        print(f.__name__ + text, answer(lambda: call(f)))


class A:
    def __init__(self, a, b=2): self.v = a, b
    def m(self, x): return x
    def n(self, *r, k=0): return r, k
    @classmethod
    def c(cls, x=1): return cls.__name__, x
    @staticmethod
    def s(x): return x
    def __call__(self, *r): return r


class B(A):
    def __init__(self, *r, **k): super().__init__(*r, **k)


for text, call in calls.items():
    if "**{a}" in text[1:] and "a" in text[:6] + text[8:] or "5" in text:
        continue                # the words name the object itself, by its address
    print("A" + text, answer(lambda: call(A).v), answer(lambda: call(B).v))
    a = A(0)
    print("methods" + text, [answer(lambda: call(g)) for g in (a.m, a.n, a.c, A.c, a.s, A.s, a, A.m, lambda *p, **q: (p, sorted(q)))])
for n in range(5):
    for text, target in (("a, b", 0), ("a, *b", 1), ("*a, b", 2), ("a, *b, c", 3), ("(a, b), c", 4), ("[a, b]", 5)):
        values = list(range(n))

        def unpack():
            if target == 0: a, b = values; return a, b
            if target == 1: a, *b = values; return a, b
            if target == 2: *a, b = values; return a, b
            if target == 3: a, *b, c = values; return a, b, c
            if target == 4: (a, b), c = values; return a, b, c
            [a, b] = iter(values); return a, b

        print(n, text, answer(unpack))
print([answer(lambda: (lambda a, b=[]: b.append(a) or list(b))(k)) for k in range(2)])
