# SPDX-License-Identifier: MIT
# numpy/_types.py: NumPy's types of elements: their order (which of two holds
# both), their numbers (np.float32(0.5)), and what they are in torch.
import operator
import torch
from numpy._format import shortest

# name, what holds it in torch (a wider type where the engine has none of that
# width), kind, bytes
ROWS = [
    ("bool", torch.bool, "b", 1),
    ("int8", torch.int8, "i", 1), ("int16", torch.int16, "i", 2),
    ("int32", torch.int32, "i", 4), ("int64", torch.int64, "i", 8),
    ("uint8", torch.uint8, "u", 1), ("uint16", torch.int32, "u", 2),
    ("uint32", torch.int64, "u", 4),
    ("float16", torch.float16, "f", 2), ("float32", torch.float32, "f", 4),
    ("float64", torch.float64, "f", 8),
    ("complex64", torch.complex64, "c", 8),
    ("complex128", torch.complex128, "c", 16),
]
ORDER = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}
DEFAULTS = ("bool", "int64", "float64", "complex128")   # left out by repr()


class generic:
    """A number of an array: behaves as Python's, knows its type."""

    @property
    def dtype(self):
        return dtype(type(self))

    shape, ndim, size = (), 0, 1

    def item(self):
        return self._plain(self)

    def tolist(self):
        return self._plain(self)

    def astype(self, kind):
        return dtype(kind).type(self)


class number(generic):
    pass


class integer(number):
    pass


class signedinteger(integer):
    pass


class unsignedinteger(integer):
    pass


class floating(number):
    pass


class complexfloating(number):
    pass


class bool_(int, generic):
    _plain = bool

    def __new__(cls, x=False):
        return int.__new__(cls, bool(x))

    def __repr__(self):
        return "np." + str(bool(self)) + "_"

    def __str__(self):
        return str(bool(self))

    def __bool__(self):
        return int(self) != 0

    def __invert__(self):
        return bool_(not bool(self))


def _text_of(size):
    def text(self):
        return shortest(float(self), size)
    return text


def _named(cls, text):
    cls.__str__ = text
    cls.__repr__ = lambda self: "np.%s(%s)" % (cls.__name__, text(self))
    return cls


def _float_type(name, size):
    def make(cls, x=0.0):
        x = float(x)
        if size < 8:
            x = torch.tensor(x, dtype=getattr(torch, name)).item()
        return float.__new__(cls, x)
    return _named(type(name, (float, floating), {"__new__": make,
                  "_plain": float}), _text_of(size))


def _int_type(name, signed, size):
    low = -(1 << (8 * size - 1)) if signed else 0
    high = (1 << (8 * size - int(signed))) - 1

    def make(cls, x=0):
        x = int(x)
        if not low <= x <= high:
            raise OverflowError("Python integer %d out of bounds for %s"
                                % (x, name))
        return int.__new__(cls, x)
    return _named(type(name, (int, signedinteger if signed else unsignedinteger),
                  {"__new__": make, "_plain": int}),
                  lambda self: str(int(self)))


def _complex_type(name):
    return _named(type(name, (complex, complexfloating), {"_plain": complex}),
                  lambda self: str(complex(self)))


TYPES = {"bool": bool_}
for _name, _, _kind, _size in ROWS[1:]:
    TYPES[_name] = _float_type(_name, _size) if _kind == "f" else \
        _complex_type(_name) if _kind == "c" else \
        _int_type(_name, _kind == "i", _size)
for _name, _class in TYPES.items():
    _class.__module__ = "numpy"
    _class._row = next(r for r in ROWS if r[0] == _name)

_BY_TORCH = {row[1]: row[0] for row in reversed(ROWS)}
_PYTHON = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}
_CODES = {"?": "bool", "b": "int8", "h": "int16", "i": "int32", "l": "int64",
          "q": "int64", "B": "uint8", "H": "uint16", "I": "uint32", "e": "float16", "f": "float32", "d": "float64",
          "F": "complex64", "D": "complex128", "half": "float16",
          "single": "float32", "double": "float64", "float": "float64",
          "int": "int64", "complex": "complex128"}


class dtype:
    """The type of an array's elements."""

    def __new__(cls, of):
        name = _name_of(of)
        if name not in cls._made:
            self = object.__new__(cls)
            self.name = name
            self.type = TYPES[name]
            _, self._torch, self.kind, self.itemsize = self.type._row
            self.str = ("|" if self.itemsize == 1 else "<") + self.kind \
                + str(self.itemsize)
            self.char = next((c for c, n in _CODES.items() if n == name), "")
            cls._made[name] = self
        return cls._made[name]

    _made = {}

    def __repr__(self):
        return "dtype('%s')" % self.name

    def __str__(self):
        return self.name

    def __eq__(self, other):
        try:
            return dtype(other).name == self.name
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self.name)


def _name_of(of):
    if isinstance(of, dtype):
        return of.name
    if isinstance(of, type):
        if of in _PYTHON:
            return _PYTHON[of]
        for name, cls in TYPES.items():
            if cls is of:
                return name
    elif isinstance(of, str):
        text = of.lstrip("<>=|")
        if text in TYPES:
            return text
        if text in _CODES:
            return _CODES[text]
        for name, _, kind, size in ROWS:
            if text == kind + str(size):
                return name
    elif isinstance(of, torch.dtype):
        if of in _BY_TORCH:
            return _BY_TORCH[of]
        raise TypeError("Got unsupported ScalarType %s" % _scalar_name(of))
    elif of is None:
        return "float64"
    raise TypeError("Cannot interpret '%r' as a data type" % (of,))


def _scalar_name(of):
    return {"bfloat16": "BFloat16"}.get(str(of)[6:], str(of)[6:])


def join_types(a, b):
    """The type that holds both, as NumPy's arrays join."""
    if a.name == b.name:
        return a
    if ORDER[a.kind] > ORDER[b.kind]:
        a, b = b, a
    if a.kind == b.kind:
        return a if a.itemsize > b.itemsize else b
    if a.kind == "b":
        return b
    if a.kind == "u" and b.kind == "i":
        if b.itemsize > a.itemsize:
            return b
        return dtype("float64") if a.itemsize == 8 else \
            dtype("int%d" % (16 * a.itemsize))
    if b.kind == "f":                   # a float that holds the integers
        need = {1: 2, 2: 4}.get(a.itemsize, 8)
        return dtype("float%d" % (8 * max(need, b.itemsize)))
    need = a.itemsize if a.kind == "f" else {1: 4, 2: 4}.get(a.itemsize, 8)
    return dtype("complex128" if need == 8 or b.itemsize == 16 else "complex64")


def join_number(a, x):
    """The type of an array's with a number of Python's, which is weak."""
    if isinstance(x, generic):
        return join_types(a, x.dtype)
    if isinstance(x, bool):
        return a
    if isinstance(x, int):
        return dtype("int64") if a.kind == "b" else a
    if isinstance(x, complex):
        if a.kind == "c":
            return a
        return dtype("complex64" if a.kind == "f" and a.itemsize <= 4
                     else "complex128")
    return a if a.kind in "fc" else dtype("float64")


def _plain(x):
    return x._plain(x) if isinstance(x, generic) else x


def _operation(op, compares, swapped):
    """What __add__ (or __radd__) of a number does."""
    def f(self, other):
        if not isinstance(other, (bool, int, float, complex)):
            return NotImplemented
        a, b = _plain(self), _plain(other)
        value = op(b, a) if swapped else op(a, b)
        if compares:
            return bool_(value)
        kind = join_number(self.dtype, other)
        if op is operator.truediv and kind.kind in "bui":
            kind = dtype("float64")
        if kind.kind == "b" and not isinstance(value, bool):
            kind = dtype("int64")
        return kind.type(value)
    return f


for _name in "add sub mul truediv floordiv mod pow".split():
    _op = getattr(operator, _name)
    for _class in TYPES.values():
        setattr(_class, "__%s__" % _name, _operation(_op, False, False))
        setattr(_class, "__r%s__" % _name, _operation(_op, False, True))
for _name in "lt le gt ge eq ne".split():
    for _class in TYPES.values():
        setattr(_class, "__%s__" % _name,
                _operation(getattr(operator, _name), True, False))
for _class in TYPES.values():
    _class.__hash__ = lambda self: hash(self._plain(self))
    _class.__neg__ = lambda self: type(self)(-self._plain(self))
    _class.__abs__ = lambda self: type(self)(abs(self._plain(self)))
