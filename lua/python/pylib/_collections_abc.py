# SPDX-License-Identifier: MIT
"""What a class gets from an abstract class of collections.abc that is among its
bases: the methods that stand on its own ones.  typing.lua puts these classes
into the order of such a class; the names that programs see are hints there."""
import collections.abc as _hints
from abc import ABCMeta, abstractmethod

_absent = object()


# ---- what abstract methods do for those who call them by super() ----

def _gives(make):
    return abstractmethod(lambda self, *args, **kw: make())


def _raises(error):
    def refuse(self, *args, **kw):
        raise error
    return abstractmethod(refuse)


# ---- what the methods below share ----

def _same(a, b):
    return a is b or a == b


def _walk(sequence, start=0, stop=None):
    """Places and items, up to the first place that the sequence has not."""
    place = start
    while stop is None or place < stop:
        try:
            item = sequence[place]
        except IndexError:
            break
        yield place, item
        place += 1


def _find(mapping, key, default=_absent):
    try:
        return mapping[key]
    except KeyError:
        return default


def _first(items):
    """The first item of what is popped from."""
    for item in items:
        return item
    raise KeyError


def _empty(pop, error):
    """Pop until nothing is left."""
    while True:
        try:
            pop()
        except error:
            return


def _within(some, others):
    return all(x in others for x in some)


def _with(kind, action):
    """An operator with operands of one kind; Python asks others themselves."""
    def operator(self, other):
        return action(self, other) if isinstance(other, kind) else NotImplemented
    return operator


# ---- one method each ----

class Hashable(_hints.Hashable, metaclass=ABCMeta):
    __slots__ = ()
    __hash__ = _gives(int)


class Callable(_hints.Callable, metaclass=ABCMeta):
    __slots__ = ()
    __call__ = _gives(bool)


class Sized(_hints.Sized, metaclass=ABCMeta):
    __slots__ = ()
    __len__ = _gives(int)


class Container(_hints.Container, metaclass=ABCMeta):
    __slots__ = ()
    __contains__ = _gives(bool)


class Iterable(_hints.Iterable, metaclass=ABCMeta):
    __slots__ = ()
    __iter__ = _gives(lambda: iter(()))


class Reversible(Iterable, _hints.Reversible):
    __slots__ = ()
    __reversed__ = _gives(lambda: iter(()))


class Collection(Sized, Iterable, Container, _hints.Collection):
    __slots__ = ()


# ---- iterators ----

class Iterator(Iterable, _hints.Iterator):
    __slots__ = ()
    __next__ = _raises(StopIteration)

    def __iter__(self):
        return self


class Generator(Iterator, _hints.Generator):
    __slots__ = ()
    send = _raises(StopIteration)

    def __next__(self):
        return self.send(None)

    @abstractmethod
    def throw(self, typ, val=None, tb=None):
        error = val
        if error is None:
            error = typ() if isinstance(typ, type) else typ
        raise error if tb is None else error.with_traceback(tb)

    def close(self):
        try:
            self.throw(GeneratorExit)
        except (StopIteration, GeneratorExit):
            return
        raise RuntimeError("generator ignored GeneratorExit")


# ---- what is awaited ----

class Awaitable(_hints.Awaitable, metaclass=ABCMeta):
    __slots__ = ()

    @abstractmethod
    def __await__(self):
        yield


class Coroutine(Awaitable, _hints.Coroutine):
    __slots__ = ()
    send, throw = _raises(StopIteration), Generator.throw

    def close(self):
        try:
            self.throw(GeneratorExit)
        except (StopIteration, GeneratorExit):
            return
        raise RuntimeError("coroutine ignored GeneratorExit")


class AsyncIterable(_hints.AsyncIterable, metaclass=ABCMeta):
    __slots__ = ()

    @abstractmethod
    def __aiter__(self):
        return AsyncIterator()


class AsyncIterator(AsyncIterable, _hints.AsyncIterator):
    __slots__ = ()

    @abstractmethod
    async def __anext__(self):
        raise StopAsyncIteration

    def __aiter__(self):
        return self


class AsyncGenerator(AsyncIterator, _hints.AsyncGenerator):
    __slots__ = ()

    async def __anext__(self):
        return await self.asend(None)

    @abstractmethod
    async def asend(self, value):
        raise StopAsyncIteration

    @abstractmethod
    async def athrow(self, typ, val=None, tb=None):
        error = val
        if error is None:
            error = typ() if isinstance(typ, type) else typ
        raise error if tb is None else error.with_traceback(tb)

    async def aclose(self):
        try:
            await self.athrow(GeneratorExit)
        except (GeneratorExit, StopAsyncIteration):
            return
        raise RuntimeError("asynchronous generator ignored GeneratorExit")


# ---- sequences ----

class Sequence(Reversible, Collection, _hints.Sequence):
    __slots__ = ()
    __getitem__ = _raises(IndexError)

    def __iter__(self):
        return (item for _, item in _walk(self))

    def __reversed__(self):
        return (self[place] for place in range(len(self) - 1, -1, -1))

    def __contains__(self, value):
        return any(_same(item, value) for item in self)

    def count(self, value):
        return len([1 for item in self if _same(item, value)])

    def index(self, value, start=0, stop=None):
        start = start or 0
        if start < 0:
            start = max(0, start + len(self))
        if stop is not None and stop < 0:
            stop += len(self)
        for place, item in _walk(self, start, stop):
            if _same(item, value):
                return place
        raise ValueError


class ByteString(Sequence, _hints.ByteString):
    __slots__ = ()


class MutableSequence(Sequence, _hints.MutableSequence):
    __slots__ = ()
    __setitem__ = _raises(IndexError)
    __delitem__ = _raises(IndexError)
    insert = _raises(IndexError)

    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for value in (list(values) if values is self else values):
            self.append(value)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def pop(self, index=-1):
        item = self[index]
        del self[index]
        return item

    def remove(self, value):
        del self[self.index(value)]

    def clear(self):
        _empty(self.pop, IndexError)

    def reverse(self):
        low, high = 0, len(self) - 1
        while low < high:
            self[low], self[high] = self[high], self[low]
            low, high = low + 1, high - 1


# ---- sets ----

class Set(Collection, _hints.Set):
    __slots__ = ()

    @classmethod
    def _from_iterable(cls, items):
        return cls(items)

    def _as_set(self, other):
        return other if isinstance(other, _hints.Set) \
            else self._from_iterable(other)

    __le__ = _with(_hints.Set, lambda a, b: len(a) <= len(b) and _within(a, b))
    __lt__ = _with(_hints.Set, lambda a, b: len(a) < len(b) and a.__le__(b))
    __ge__ = _with(_hints.Set, lambda a, b: len(a) >= len(b) and _within(b, a))
    __gt__ = _with(_hints.Set, lambda a, b: len(a) > len(b) and a.__ge__(b))
    __eq__ = _with(_hints.Set, lambda a, b: len(a) == len(b) and a.__le__(b))

    __and__ = __rand__ = _with(_hints.Iterable, lambda a, b: a._from_iterable(
        x for x in b if x in a))
    __or__ = __ror__ = _with(_hints.Iterable, lambda a, b: a._from_iterable(
        x for both in (a, b) for x in both))

    def _without(self, kept, dropped):
        return self._from_iterable(x for x in kept if x not in dropped)

    __sub__ = _with(_hints.Iterable, lambda a, b: a._without(a, a._as_set(b)))
    __rsub__ = _with(_hints.Iterable, lambda a, b: a._without(a._as_set(b), a))

    def _apart(self, other):
        other = self._as_set(other)
        return (self - other) | (other - self)

    __xor__ = __rxor__ = _with(_hints.Iterable, _apart)

    def isdisjoint(self, other):
        return all(x not in self for x in other)

    def _hash(self):
        return hash(frozenset(self))


class MutableSet(Set, _hints.MutableSet):
    __slots__ = ()
    add = _raises(NotImplementedError)
    discard = _raises(NotImplementedError)

    def pop(self):
        value = _first(self)
        self.discard(value)
        return value

    def remove(self, value):
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def clear(self):
        _empty(self.pop, KeyError)

    def _each(self, action, values):
        for value in values:
            action(value)
        return self

    def __ior__(self, values):
        return self._each(self.add, values)

    def __iand__(self, values):
        return self._each(self.discard, self - values)

    def __isub__(self, values):
        return self._each(self.discard, list(values) if values is self
                          else values)

    def _turn(self, value):
        (self.discard if value in self else self.add)(value)

    def __ixor__(self, values):
        return self._each(self._turn, list(values) if values is self
                          else self._as_set(values))


# ---- mappings ----

class MappingView(Sized, _hints.MappingView):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return "%s(%r)" % (type(self).__name__, self._mapping)


class _SetView(MappingView, Set):
    """A view that is a set; what is made of it is a set of Python's."""

    @classmethod
    def _from_iterable(cls, items):
        return set(items)


class KeysView(_SetView, _hints.KeysView):
    def __iter__(self):
        return iter(self._mapping)

    def __contains__(self, key):
        return key in self._mapping


class ItemsView(_SetView, _hints.ItemsView):
    def __iter__(self):
        return ((key, self._mapping[key]) for key in self._mapping)

    def __contains__(self, item):
        key, value = item
        held = _find(self._mapping, key)
        return held is not _absent and _same(held, value)


class ValuesView(MappingView, Collection, _hints.ValuesView):
    def __iter__(self):
        return (self._mapping[key] for key in self._mapping)

    def __contains__(self, value):
        return any(_same(held, value) for held in self)


class Mapping(Collection, _hints.Mapping):
    __slots__ = ()
    __reversed__ = None
    __getitem__ = _raises(KeyError)

    def get(self, key, default=None):
        return _find(self, key, default)

    def __contains__(self, key):
        return _find(self, key) is not _absent

    def keys(self):
        return KeysView(self)

    def values(self):
        return ValuesView(self)

    def items(self):
        return ItemsView(self)

    __eq__ = _with(_hints.Mapping,
                   lambda a, b: dict(a.items()) == dict(b.items()))


class MutableMapping(Mapping, _hints.MutableMapping):
    __slots__ = ()
    __setitem__ = _raises(KeyError)
    __delitem__ = _raises(KeyError)

    def pop(self, key, default=_absent):
        value = self[key] if default is _absent else _find(self, key)
        if value is _absent:
            return default
        del self[key]
        return value

    def popitem(self):
        key = _first(self)
        return key, self.pop(key)

    def clear(self):
        _empty(self.popitem, KeyError)

    def setdefault(self, key, default=None):
        value = _find(self, key)
        if value is _absent:
            self[key] = value = default
        return value

    def update(self, other=(), /, **names):
        by_key = isinstance(other, _hints.Mapping) or hasattr(other, "keys")
        pairs = ((key, other[key]) for key in other.keys()) if by_key else other
        for key, value in pairs:
            self[key] = value
        for key in names:
            self[key] = names[key]


for _class in list(globals().values()):
    if isinstance(_class, type) and _class is not ABCMeta:
        _class.__module__ = "collections.abc"
