"""Classes of exceptions with several bases, properties, __new__, __getattr__;
the exception at hand in functions and generators; what has no items."""


class Mixin:
    def hi(self):
        return "hi of " + type(self).__name__


class Two(ValueError, KeyError):
    pass


class Mixed(Exception, Mixin):
    field = 3

    def __init__(self, a):
        super().__init__(a, 2)
        self.own = a

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return name + "!"

    @property
    def first(self):
        return self.args[0]

    @classmethod
    def make(cls):
        return cls("made")


class Below(Mixed):
    def hi(self):
        return super().hi() + ", below"


class New(RuntimeError):
    def __new__(cls, *args):
        e = super().__new__(cls, *args)
        e.noted = len(args)
        return e


class First(Mixin, OSError):
    pass


try:
    raise Two("x")
except KeyError as e:
    print("as a KeyError:", repr(e), str(e))
print([c.__name__ for c in Two.__mro__], issubclass(Two, KeyError), Two.__bases__)
m = Below(1)
print(m.hi(), m.args, m.absent, m.first, m.make().args, m.field, m.__dict__)
print(isinstance(m, Mixin), isinstance(m, Exception), issubclass(Below, Mixin))
print([c.__name__ for c in Below.mro()])
print(New(1, 2).noted, New(1, 2).args)
try:
    raise First(2, "no such thing")
except OSError as e:
    print(e.hi(), type(e).__name__)
try:
    m.first = 4
except AttributeError as e:
    print("AttributeError:", e)
Below.field = 5
print(m.field, Below.field, Mixed.field)


def again():
    raise


def waits():
    try:
        raise KeyError("inner")
    except KeyError:
        yield 1
        try:
            again()
        except KeyError as e:
            yield repr(e)


try:
    raise ValueError("outer")
except ValueError:
    g = waits()
    print(next(g))
    try:
        again()
    except Exception as e:
        print("again:", repr(e))
    print(next(g))
try:
    again()
except RuntimeError as e:
    print(e)


def tried(f):
    try:
        print("gives", f())
    except Exception as e:
        print(type(e).__name__ + ":", e)


class Plain:
    pass


class Ints(int):
    pass


def put(v):
    v[0] = 1


def put_field(v):
    v.field = 1


def drop(v):
    del v[0]


def enters(v):
    with v:
        print("entered")


for v in (10**20, tried, KeyError("k"), 1j, Plain(), Ints(2), "text", (1, 2),
          b"ab", range(3), {1}, None, slice(1), [], {}):
    print(type(v).__name__)
    if not isinstance(v, (str, tuple, bytes, range, list, dict)):
        tried(lambda: v[0])
    if type(v) not in (list, dict):
        tried(lambda: put(v))
        tried(lambda: drop(v))
    if not hasattr(v, "__dict__"):
        tried(lambda: put_field(v))
    tried(lambda: enters(v))
    tried(lambda: format(v, ">3") if not isinstance(v, (int, str, complex)) else 0)
tried(lambda: Plain[int])
tried(lambda: int[3])
tried(lambda: -KeyError())
tried(lambda: KeyError() + 1)
tried(lambda: Ints(1) + [])


def augmented(a, b):
    a -= b


tried(lambda: augmented([], 1))
tried(lambda: augmented(1, "x"))
tried(lambda: [0][:10**20][0])
print((lambda: 0).__name__)
