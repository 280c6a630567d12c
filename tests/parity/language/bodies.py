# Members of an enum that stand in an if or a loop, in their order; names that are reserved.
import enum
from enum import Enum, IntEnum, auto


class Main(Enum):
    first = auto()
    if True:
        second = auto()
        also = second
    else:
        never = 5
    third = 3

    def method(self):
        return self.name


print(list(Main), Main.also is Main.second, Main.third.method(), list(Main.__members__))


class Body:
    a = 1
    for i in range(2):
        b = i

    c = 3

    def f(self):
        pass


print([n for n in Body.__dict__ if not n.startswith("__")])


def reserved():
    class Wrong(Enum):
        _any_name_ = 9


def named_mro():
    class Wrong(IntEnum):
        mro = 9


for f in (reserved, named_mro):
    try:
        f()
    except ValueError as e:
        print(e)
