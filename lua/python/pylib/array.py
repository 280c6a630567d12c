# SPDX-License-Identifier: MIT
"""array: numbers of one kind of C's, kept as a list and packed by struct."""
import struct

import _collections_abc

typecodes = "bBuhHiIlLqQfd"
_NAMES = {"b": "signed char", "B": "unsigned byte integer", "h": "signed short",
          "H": "unsigned short", "i": "signed int", "I": "unsigned int",
          "l": "signed long", "L": "unsigned long", "q": "signed long long",
          "Q": "unsigned long long"}


def _checked(code, v):
    if code == "u":
        if not isinstance(v, str) or len(v) != 1:
            raise TypeError("array item must be unicode character")
        return v
    if code in "fd":
        if isinstance(v, (str, bytes)) or not hasattr(v, "__float__") \
                and not hasattr(v, "__index__"):
            raise TypeError("must be real number, not " + type(v).__name__)
        return struct.unpack(code, struct.pack(code, v))[0]
    if not hasattr(v, "__index__"):
        raise TypeError(f"{type(v).__name__!r} object cannot be interpreted "
                        "as an integer")
    v = v.__index__()
    bits = struct.calcsize(code) * 8
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if code.islower() \
        else (0, (1 << bits) - 1)
    if low <= v <= high:
        return v
    if code in "iIlLqQ" and not (code == "I" or code == "i"):
        raise OverflowError("int too big to convert" if v > high
                            else "can't convert negative value to unsigned int"
                            if code.isupper() else "int too big to convert")
    raise OverflowError(f"{_NAMES[code]} is "
                        + ("greater than maximum" if v > high
                           else "less than minimum"))


class array(_collections_abc.MutableSequence):
    __module__ = "array"

    def __init__(self, typecode, initializer=(), /):
        if not isinstance(typecode, str) or len(typecode) != 1:
            raise TypeError("array() argument 1 must be a unicode character, "
                            "not " + type(typecode).__name__)
        if typecode not in typecodes:
            raise ValueError("bad typecode (must be b, B, u, h, H, i, I, l, L,"
                             " q, Q, f or d)")
        if isinstance(initializer, str) and typecode != "u":
            raise TypeError("cannot use a str to initialize an array with "
                            f"typecode {typecode!r}")
        self.typecode = typecode
        self._items = []
        if isinstance(initializer, (bytes, bytearray)):
            self.frombytes(initializer)
        else:
            self.extend(initializer)

    @property
    def itemsize(self):
        return 4 if self.typecode == "u" else struct.calcsize(self.typecode)

    def _made(self, items):
        out = type(self)(self.typecode)
        out._items = items
        return out

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return self._made(self._items[i])
        if not hasattr(i, "__index__"):
            raise TypeError("array indices must be integers")
        try:
            return self._items[i]
        except IndexError:
            raise IndexError("array index out of range") from None

    def __setitem__(self, i, v):
        if isinstance(i, slice):
            self._items[i] = self._others(v)
            return
        v = _checked(self.typecode, v)
        try:
            self._items[i] = v
        except IndexError:
            raise IndexError("array assignment index out of range") from None

    def __delitem__(self, i):
        del self._items[i]

    def _others(self, other):
        if not isinstance(other, array):
            raise TypeError("can only append array (not "
                            f'"{type(other).__name__}") to array')
        if other.typecode != self.typecode:
            raise TypeError("bad argument type for built-in operation")
        return other._items

    def __add__(self, other):
        return self._made(self._items + self._others(other))

    def __iadd__(self, other):
        self._items += self._others(other)
        return self

    def __mul__(self, n):
        return self._made(self._items * n)

    __rmul__ = __mul__

    def __contains__(self, v):
        return v in self._items

    def __eq__(self, other):
        if not isinstance(other, array):
            return NotImplemented
        return self._items == other._items

    def __lt__(self, other):
        if not isinstance(other, array):
            return NotImplemented
        return self._items < other._items

    __hash__ = None

    def __repr__(self):
        if not self._items:
            return f"array({self.typecode!r})"
        shown = "".join(self._items) if self.typecode == "u" else self._items
        return f"array({self.typecode!r}, {shown!r})"

    def __copy__(self):
        return self._made(self._items[:])

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return array, (self.typecode, list(self._items))

    def __bytes__(self):
        return self.tobytes()

    def __buffer__(self, flags):
        return self.tobytes()

    def append(self, v):
        self._items.append(_checked(self.typecode, v))

    def extend(self, values):
        if isinstance(values, array) and values.typecode != self.typecode:
            raise TypeError("can only extend with array of same kind")
        for v in values:
            self.append(v)

    def fromlist(self, values):
        if not isinstance(values, list):
            raise TypeError("arg must be list")
        self._items += [_checked(self.typecode, v) for v in values]

    def insert(self, i, v):
        self._items.insert(i, _checked(self.typecode, v))

    def pop(self, i=-1):
        if not self._items:
            raise IndexError("pop from empty array")
        try:
            return self._items.pop(i)
        except IndexError:
            raise IndexError("pop index out of range") from None

    def remove(self, v):
        try:
            self._items.remove(v)
        except ValueError:
            raise ValueError("array.remove(x): x not in array") from None

    def index(self, v, *bounds):
        try:
            return self._items.index(v, *bounds)
        except ValueError:
            raise ValueError("array.index(x): x not in array") from None

    def count(self, v):
        return self._items.count(v)

    def reverse(self):
        self._items.reverse()

    def tolist(self):
        return list(self._items)

    def tounicode(self):
        return "".join(self._items)

    def tobytes(self):
        if self.typecode == "u":
            return self.tounicode().encode("utf-32-le")
        return struct.pack(f"{len(self._items)}{self.typecode}", *self._items)

    def frombytes(self, data):
        data = bytes(data)
        if len(data) % self.itemsize:
            raise ValueError("bytes length not a multiple of item size")
        n = len(data) // self.itemsize
        self._items += struct.unpack(f"{n}{self.typecode}", data)

    def tofile(self, f):
        f.write(self.tobytes())

    def fromfile(self, f, n):
        data = f.read(n * self.itemsize)
        self.frombytes(data[:len(data) // self.itemsize * self.itemsize])
        if len(data) < n * self.itemsize:
            raise EOFError("read() didn't return enough bytes")

    def byteswap(self):
        size, data = self.itemsize, self.tobytes()
        self._items = []
        self.frombytes(b"".join(data[i:i + size][::-1]
                                for i in range(0, len(data), size)))

    def buffer_info(self):
        return id(self._items), len(self._items)


ArrayType = array
