# SPDX-License-Identifier: MIT
"""collections: ChainMap, and the boxes and texts to derive from."""
import collections.abc as _abc
import operator


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for mapping in self.maps:
            if key in mapping:
                return mapping[key]
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any(key in m for m in self.maps)

    def __iter__(self):
        seen = {}
        for mapping in reversed(self.maps):
            for key in mapping:
                seen[key] = None
        return iter(seen)

    def __len__(self):
        return len(list(iter(self)))

    def __bool__(self):
        return any(bool(m) for m in self.maps)

    def __eq__(self, other):
        return dict(self.items()) == (dict(other.items())
                                      if isinstance(other, ChainMap) else other)

    def keys(self):
        return {key: None for key in self}.keys()

    def values(self):
        return {key: self[key] for key in self}.values()

    def items(self):
        return {key: self[key] for key in self}.items()

    def __repr__(self):
        return type(self).__name__ + "(" + ", ".join(map(repr, self.maps)) + ")"

    def copy(self):
        return type(self)(self.maps[0].copy(), *self.maps[1:])

    __copy__ = copy

    @classmethod
    def fromkeys(cls, iterable, *args):
        return cls(dict.fromkeys(iterable, *args))

    def popitem(self):
        try:
            return self.maps[0].popitem()
        except KeyError:
            raise KeyError("No keys found in the first mapping.") from None

    def __or__(self, other):
        if not isinstance(other, (dict, ChainMap)):
            return NotImplemented
        m = self.copy()
        m.maps[0].update(other)
        return m

    def __ror__(self, other):
        if not isinstance(other, (dict, ChainMap)):
            return NotImplemented
        m = dict(other)
        for child in reversed(self.maps):
            m.update(child)
        return type(self)(m)

    def __ior__(self, other):
        self.maps[0].update(other)
        return self

    def new_child(self, m=None, **kwargs):
        if m is None:
            m = kwargs
        elif kwargs:
            m.update(kwargs)
        return type(self)(m, *self.maps)

    @property
    def parents(self):
        return type(self)(*self.maps[1:])

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        if key not in self.maps[0]:
            raise KeyError(f"Key not found in the first mapping: {key!r}")
        del self.maps[0][key]

    def pop(self, key, *args):
        if key not in self.maps[0] and not args:
            raise KeyError(f"Key not found in the first mapping: {key!r}")
        return self.maps[0].pop(key, *args)

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, other=(), **kwargs):
        self.maps[0].update(other, **kwargs)

    def clear(self):
        self.maps[0].clear()


# ---- boxes and texts to derive from: what they are is kept in .data ----

def _inner(name, boxed=False):
    """The method of that name of what is kept, where an argument that is a box
    counts as what it keeps; `boxed`: its result in a box of self's class."""
    sign = getattr(operator, name.strip("_"), None) if name[0] == "_" else None

    def method(self, *args, **kwargs):
        args = [self._bare(value) for value in args]
        if sign:
            value = sign(self.data, *args)
        else:
            value = getattr(self.data, name)(*args, **kwargs)
        return type(self)(value) if boxed else value
    method.__name__ = name
    return method


def _compared(kind, *names):
    for name in names:
        setattr(kind, name, _inner(name))


class _Box:
    """What all three have."""
    _kind = None                # the class whose instances are seen through

    def _bare(self, value):
        return value.data if isinstance(value, self._kind) else value

    __len__ = _inner("__len__")
    __repr__ = _inner("__repr__")

    def __copy__(self):
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin.data = self.data[:] if isinstance(self.data, (list, str)) \
            else dict(self.data)
        return twin


class UserDict(_Box):
    def __init__(self, dict=None, /, **kwargs):
        self.data = {}
        for given in (dict, kwargs or None):
            if given is not None:
                self.update(given)

    def __getitem__(self, key):
        absent = getattr(type(self), "__missing__", None)
        if absent is not None and key not in self.data:
            return absent(self, key)
        return self.data[key]

    # each of these is one line on what is kept, so that a class that says one
    # of them anew is asked for it by the others
    __setitem__ = lambda self, key, item: self.data.__setitem__(key, item)
    __delitem__ = lambda self, key: self.data.__delitem__(key)
    __contains__ = lambda self, key: key in self.data
    __iter__ = lambda self: iter(self.data)
    keys = lambda self: self.data.keys()
    values = lambda self: self.data.values()
    items = lambda self: self.data.items()

    def __eq__(self, other):
        other = self._bare(other)
        return dict(self.items()) == other if isinstance(other, dict) \
            else NotImplemented

    def _joined(self, other, swapped):
        other = self._bare(other)
        if not isinstance(other, dict):
            return NotImplemented
        return type(self)(other | self.data if swapped else self.data | other)

    def __or__(self, other):
        return self._joined(other, False)

    def __ror__(self, other):
        return self._joined(other, True)

    def __ior__(self, other):
        self.data |= self._bare(other)
        return self

    def get(self, key, default=None):
        return self[key] if key in self else default

    def update(self, other=(), /, **kwargs):
        if hasattr(other, "keys"):
            other = [(key, other[key]) for key in other.keys()]
        for key, value in [*other, *kwargs.items()]:
            self[key] = value

    def pop(self, key, *args):
        if len(args) > 1:
            raise TypeError("pop expected at most 2 arguments, got "
                            f"{len(args) + 1}")
        try:
            value = self[key]
        except KeyError:
            if not args:
                raise
            return args[0]
        del self[key]
        return value

    def popitem(self):
        for key in self:
            return key, self.pop(key)
        raise KeyError

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        for key in list(self):
            del self[key]

    def copy(self):
        if type(self) is UserDict:
            return UserDict(dict(self.data))
        twin = type(self)()
        vars(twin).update((k, v) for k, v in vars(self).items() if k != "data")
        twin.data = {}
        twin.update(self)
        return twin

    @classmethod
    def fromkeys(cls, iterable, value=None):
        out = cls()
        for key in iterable:
            out[key] = value
        return out


class UserList(_Box):
    def __init__(self, initlist=None):
        self.data = [] if initlist is None else list(self._bare(initlist))

    __contains__ = lambda self, item: item in self.data

    def __getitem__(self, i):
        value = self.data[i]
        return type(self)(value) if isinstance(i, slice) else value

    def __setitem__(self, i, item):
        self.data[i] = item

    def __delitem__(self, i):
        del self.data[i]

    def __add__(self, other):
        return type(self)(self.data + list(self._bare(other)))

    def __radd__(self, other):
        return type(self)(list(self._bare(other)) + self.data)

    def __iadd__(self, other):
        self.data += list(self._bare(other))
        return self

    __mul__ = __rmul__ = _inner("__mul__", boxed=True)

    def __imul__(self, n):
        self.data *= n
        return self

    def __iter__(self):
        i = 0
        while True:
            try:
                item = self[i]
            except IndexError:
                return
            yield item
            i += 1

    def __reversed__(self):
        for i in reversed(range(len(self))):
            yield self[i]

    def copy(self):
        return type(self)(self)


_compared(UserList, "__lt__", "__le__", "__gt__", "__ge__", "__eq__")
for _name in ("append", "insert", "pop", "remove", "clear", "count", "index",
              "reverse", "sort", "extend"):
    setattr(UserList, _name, _inner(_name))


class UserString(_Box):
    def __init__(self, seq):
        self.data = str(self._bare(seq))

    def __str__(self):
        return self.data

    def __hash__(self):
        return hash(self.data)

    # what a number is made of is asked for by the number's class
    __int__ = lambda self: int(self.data)
    __float__ = lambda self: float(self.data)
    __complex__ = lambda self: complex(self.data)

    def __iter__(self):
        return (self[i] for i in range(len(self.data)))

    def __getitem__(self, index):
        return type(self)(self.data[index])

    def __add__(self, other):
        return type(self)(self.data + str(self._bare(other)))

    def __radd__(self, other):
        return type(self)(str(other) + self.data)

    __mul__ = __rmul__ = _inner("__mul__", boxed=True)

    def __mod__(self, args):
        return type(self)(self.data % args)

    def __rmod__(self, template):
        return type(self)(str(template) % self)

    def encode(self, encoding="utf-8", errors="strict"):
        return self.data.encode("utf-8" if encoding is None else encoding,
                                "strict" if errors is None else errors)


_compared(UserString, "__lt__", "__le__", "__gt__", "__ge__", "__eq__",
          "__contains__")
UserDict._kind, UserList._kind, UserString._kind = UserDict, UserList, UserString


for _name in """capitalize casefold center expandtabs ljust lower lstrip
        removeprefix removesuffix replace rjust rstrip strip swapcase title
        translate upper zfill""".split():
    setattr(UserString, _name, _inner(_name, boxed=True))
for _name in """count endswith find format format_map index isalpha isalnum
        isascii isdecimal isdigit isidentifier islower isnumeric isprintable
        isspace istitle isupper join partition rindex rfind rpartition rsplit
        split splitlines startswith""".split():
    setattr(UserString, _name, _inner(_name))


for _class, _abstract in ((ChainMap, _abc.MutableMapping),
                          (UserDict, _abc.MutableMapping),
                          (UserList, _abc.MutableSequence),
                          (UserString, _abc.Sequence)):
    _abstract.register(_class)
