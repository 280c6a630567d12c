# SPDX-License-Identifier: MIT
"""What a class gets from an abstract class of collections.abc that is among its
bases: the methods that stand on its own ones.  typing.lua puts these classes
into the order of such a class; the names that programs see are hints there."""
import collections.abc as _hints
from abc import ABCMeta, abstractmethod


class Hashable(_hints.Hashable, metaclass=ABCMeta):
    __slots__ = ()

    @abstractmethod
    def __hash__(self):
        return 0


class Callable(_hints.Callable, metaclass=ABCMeta):
    __slots__ = ()

    @abstractmethod
    def __call__(self, *args, **kwds):
        return False


class Iterable(_hints.Iterable, metaclass=ABCMeta):
    __slots__ = ()

    @abstractmethod
    def __iter__(self):
        return iter(())


class Iterator(Iterable, _hints.Iterator):
    __slots__ = ()

    @abstractmethod
    def __next__(self):
        raise StopIteration

    def __iter__(self):
        return self


class Generator(Iterator, _hints.Generator):
    __slots__ = ()

    def __next__(self):
        return self.send(None)

    @abstractmethod
    def send(self, value):
        raise StopIteration

    @abstractmethod
    def throw(self, typ, val=None, tb=None):
        if val is None:
            if tb is None:
                raise typ
            val = typ()
        if tb is not None:
            val = val.with_traceback(tb)
        raise val

    def close(self):
        try:
            self.throw(GeneratorExit)
        except (GeneratorExit, StopIteration):
            pass
        else:
            raise RuntimeError("generator ignored GeneratorExit")


class Reversible(Iterable, _hints.Reversible):
    __slots__ = ()

    @abstractmethod
    def __reversed__(self):
        return iter(())


class Sized(_hints.Sized, metaclass=ABCMeta):
    __slots__ = ()

    @abstractmethod
    def __len__(self):
        return 0


class Container(_hints.Container, metaclass=ABCMeta):
    __slots__ = ()

    @abstractmethod
    def __contains__(self, item):
        return False


class Collection(Sized, Iterable, Container, _hints.Collection):
    __slots__ = ()


class Sequence(Reversible, Collection, _hints.Sequence):
    __slots__ = ()

    @abstractmethod
    def __getitem__(self, index):
        raise IndexError

    def __iter__(self):
        i = 0
        try:
            while True:
                yield self[i]
                i += 1
        except IndexError:
            return

    def __contains__(self, value):
        return any(x is value or x == value for x in self)

    def __reversed__(self):
        for i in reversed(range(len(self))):
            yield self[i]

    def index(self, value, start=0, stop=None):
        if start is not None and start < 0:
            start = max(len(self) + start, 0)
        if stop is not None and stop < 0:
            stop += len(self)
        i = start
        while stop is None or i < stop:
            try:
                x = self[i]
            except IndexError:
                break
            if x is value or x == value:
                return i
            i += 1
        raise ValueError

    def count(self, value):
        return sum(1 for x in self if x is value or x == value)


class ByteString(Sequence, _hints.ByteString):
    __slots__ = ()


class MutableSequence(Sequence, _hints.MutableSequence):
    __slots__ = ()

    @abstractmethod
    def __setitem__(self, index, value):
        raise IndexError

    @abstractmethod
    def __delitem__(self, index):
        raise IndexError

    @abstractmethod
    def insert(self, index, value):
        raise IndexError

    def append(self, value):
        self.insert(len(self), value)

    def clear(self):
        try:
            while True:
                self.pop()
        except IndexError:
            pass

    def reverse(self):
        last = len(self) - 1
        for i in range(len(self) // 2):
            self[i], self[last - i] = self[last - i], self[i]

    def extend(self, values):
        if values is self:
            values = list(values)
        for x in values:
            self.append(x)

    def pop(self, index=-1):
        x = self[index]
        del self[index]
        return x

    def remove(self, value):
        del self[self.index(value)]

    def __iadd__(self, values):
        self.extend(values)
        return self


class Set(Collection, _hints.Set):
    __slots__ = ()

    @classmethod
    def _from_iterable(cls, it):
        return cls(it)

    def __le__(self, other):
        if not isinstance(other, _hints.Set):
            return NotImplemented
        return len(self) <= len(other) and all(x in other for x in self)

    def __lt__(self, other):
        if not isinstance(other, _hints.Set):
            return NotImplemented
        return len(self) < len(other) and self.__le__(other)

    def __ge__(self, other):
        if not isinstance(other, _hints.Set):
            return NotImplemented
        return len(self) >= len(other) and all(x in self for x in other)

    def __gt__(self, other):
        if not isinstance(other, _hints.Set):
            return NotImplemented
        return len(self) > len(other) and self.__ge__(other)

    def __eq__(self, other):
        if not isinstance(other, _hints.Set):
            return NotImplemented
        return len(self) == len(other) and self.__le__(other)

    def __and__(self, other):
        if not isinstance(other, _hints.Iterable):
            return NotImplemented
        return self._from_iterable(x for x in other if x in self)

    __rand__ = __and__

    def isdisjoint(self, other):
        return not any(x in self for x in other)

    def __or__(self, other):
        if not isinstance(other, _hints.Iterable):
            return NotImplemented
        return self._from_iterable(x for part in (self, other) for x in part)

    __ror__ = __or__

    def _as_set(self, other):
        if isinstance(other, _hints.Set):
            return other
        if isinstance(other, _hints.Iterable):
            return self._from_iterable(other)
        return None

    def __sub__(self, other):
        other = self._as_set(other)
        if other is None:
            return NotImplemented
        return self._from_iterable(x for x in self if x not in other)

    def __rsub__(self, other):
        other = self._as_set(other)
        if other is None:
            return NotImplemented
        return self._from_iterable(x for x in other if x not in self)

    def __xor__(self, other):
        other = self._as_set(other)
        if other is None:
            return NotImplemented
        return (self - other) | (other - self)

    __rxor__ = __xor__

    def _hash(self):
        return hash(frozenset(self))


class MutableSet(Set, _hints.MutableSet):
    __slots__ = ()

    @abstractmethod
    def add(self, value):
        raise NotImplementedError

    @abstractmethod
    def discard(self, value):
        raise NotImplementedError

    def remove(self, value):
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def pop(self):
        try:
            value = next(iter(self))
        except StopIteration:
            raise KeyError from None
        self.discard(value)
        return value

    def clear(self):
        try:
            while True:
                self.pop()
        except KeyError:
            pass

    def __ior__(self, other):
        for value in other:
            self.add(value)
        return self

    def __iand__(self, other):
        for value in self - other:
            self.discard(value)
        return self

    def __ixor__(self, other):
        if other is self:
            self.clear()
            return self
        for value in self._as_set(other):
            if value in self:
                self.discard(value)
            else:
                self.add(value)
        return self

    def __isub__(self, other):
        if other is self:
            self.clear()
            return self
        for value in other:
            self.discard(value)
        return self


class MappingView(Sized, _hints.MappingView):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"{type(self).__name__}({self._mapping!r})"


class KeysView(MappingView, Set, _hints.KeysView):
    @classmethod
    def _from_iterable(cls, it):
        return set(it)

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        yield from self._mapping


class ItemsView(MappingView, Set, _hints.ItemsView):
    @classmethod
    def _from_iterable(cls, it):
        return set(it)

    def __contains__(self, item):
        key, value = item
        try:
            held = self._mapping[key]
        except KeyError:
            return False
        return held is value or held == value

    def __iter__(self):
        for key in self._mapping:
            yield key, self._mapping[key]


class ValuesView(MappingView, Collection, _hints.ValuesView):
    def __contains__(self, value):
        return any(self._mapping[key] is value or self._mapping[key] == value
                   for key in self._mapping)

    def __iter__(self):
        for key in self._mapping:
            yield self._mapping[key]


class Mapping(Collection, _hints.Mapping):
    __slots__ = ()
    __reversed__ = None

    @abstractmethod
    def __getitem__(self, key):
        raise KeyError

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return KeysView(self)

    def items(self):
        return ItemsView(self)

    def values(self):
        return ValuesView(self)

    def __eq__(self, other):
        if not isinstance(other, _hints.Mapping):
            return NotImplemented
        return dict(self.items()) == dict(other.items())


class MutableMapping(Mapping, _hints.MutableMapping):
    __slots__ = ()
    _absent = object()

    @abstractmethod
    def __setitem__(self, key, value):
        raise KeyError

    @abstractmethod
    def __delitem__(self, key):
        raise KeyError

    def pop(self, key, default=_absent):
        try:
            value = self[key]
        except KeyError:
            if default is MutableMapping._absent:
                raise
            return default
        del self[key]
        return value

    def popitem(self):
        try:
            key = next(iter(self))
        except StopIteration:
            raise KeyError from None
        value = self[key]
        del self[key]
        return key, value

    def clear(self):
        try:
            while True:
                self.popitem()
        except KeyError:
            pass

    def update(self, other=(), /, **kwds):
        if isinstance(other, _hints.Mapping):
            for key in other:
                self[key] = other[key]
        elif hasattr(other, "keys"):
            for key in other.keys():
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key, value in kwds.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default


for _class in list(globals().values()):
    if isinstance(_class, type) and _class is not ABCMeta:
        _class.__module__ = "collections.abc"
