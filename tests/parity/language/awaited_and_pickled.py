# SPDX-License-Identifier: MIT
# anext, aiter, generators that are awaited; the bytes of pickles; doctest.
import copy
import doctest
import pickle
import types


class NA:
    def __new__(cls, a, *, k=0):
        o = super().__new__(cls)
        o.a, o.k = a, k
        return o

    def __getnewargs_ex__(self):
        return (self.a,), {"k": self.k}


class NB:
    def __new__(cls, a):
        o = super().__new__(cls)
        o.a = a
        return o

    def __getnewargs__(self):
        return (self.a,)


for v in (NB(1), NA(1, k=2)):
    data = pickle.dumps(v)
    print(data, vars(pickle.loads(data)), vars(copy.copy(v)))
print(pickle.dumps([1, "a", {"k": (1.5, None)}, ...]), len(pickle.dumps("x" * 300)))


async def numbers(n):
    for i in range(n):
        yield i


@types.coroutine
def handed(x):
    return (yield x)


async def use():
    it = aiter(numbers(2))
    print(await anext(it), await anext(it), await anext(it, "end"))
    print(await handed("out"))
    try:
        await anext(it)
    except StopAsyncIteration as e:
        print(repr(e))

c = use()
print(c.send(None))
try:
    c.send("in")
except StopIteration:
    print("over")
for f in (lambda: aiter(3), lambda: anext(3)):
    try:
        f()
    except TypeError as e:
        print(e)


def doubled(x):
    """
    >>> doubled(2)
    4
    >>> x = 5
    >>> for i in range(2): i
    0
    1
    >>> print("a\\n\\nb")
    a
    <BLANKLINE>
    b
    >>> 1 / 0
    Traceback (most recent call last):
      ...
    ZeroDivisionError: division by zero
    >>> list(range(20)) # doctest: +ELLIPSIS
    [0, 1, ..., 19]
    >>> doubled(3)
    7
    """
    return x * 2


lines = []

test = doctest.DocTestFinder().find(doubled, "doubled", globs={"doubled": doubled})[0]
print(doctest.DocTestRunner(verbose=False).run(test, out=lines.append), len(test.examples))
print(*[x for x in "".join(lines).splitlines() if "File" not in x], sep="\n")


def ended():
    return; yield

print(list(ended()))
exec(compile("3 + 4; None", "<s>", "single"))
exec(compile("if True: 'x'\n", "<s>", "single"))
try:
    compile("1\n2", "<s>", "single")
except SyntaxError as e:
    print(e.msg)
