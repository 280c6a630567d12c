# SPDX-License-Identifier: MIT
"""weakref: references that keep nothing alive.  Nothing counts references
here: what is lost is found where a program asks (_weak.look)."""
import _weak
from collections.abc import MutableMapping as _Mapping, MutableSet as _Set


class ReferenceType:
    """A reference to an object, called to have it; None when it is gone."""

    def __new__(cls, obj, callback=None, /):
        if cls is ReferenceType and callback is None:
            known = _weak.known(obj)
            if known is not None:
                return known
        self = super().__new__(cls)
        _weak.bind(self, obj, callback, cls is ReferenceType
                   and callback is None)
        self._callback = callback
        return self

    def __init__(self, obj, callback=None, /):
        pass

    @property
    def __callback__(self):
        return self._callback if self() is not None else None

    def __call__(self):
        return _weak.look(self)

    def __hash__(self):
        held = self.__dict__.get("_hash")
        if held is None:
            obj = self()
            if obj is None:
                raise TypeError("weak object has gone away")
            held = self._hash = hash(obj)
        return held

    def __eq__(self, other):
        if not isinstance(other, ReferenceType):
            return NotImplemented
        mine, its = self(), other()
        if mine is None or its is None:
            return self is other
        return mine == its

    def __repr__(self):
        obj = self()
        if obj is None:
            return f"<weakref at {id(self):#x}; dead>"
        name = getattr(obj, "__name__", None)
        told = f" ({name})" if isinstance(name, str) else ""
        return (f"<weakref at {id(self):#x}; to '{type(obj).__name__}' at "
                f"{id(obj):#x}{told}>")


ReferenceType.__name__ = ReferenceType.__qualname__ = "ReferenceType"
ref = ReferenceType


class KeyedRef(ReferenceType):
    def __new__(cls, obj, callback, key):
        self = super().__new__(cls, obj, callback)
        self.key = key
        return self

    def __init__(self, obj, callback, key):
        pass


class WeakMethod(ReferenceType):
    """A reference to a bound method, whose object may go."""

    def __new__(cls, meth, callback=None):
        try:
            obj, func = meth.__self__, meth.__func__
        except AttributeError:
            raise TypeError("argument should be a bound method, not "
                            f"{type(meth)}") from None
        self = super().__new__(cls, obj, callback)
        self._func = func
        self._type = type(meth)
        return self

    def __call__(self):
        obj = super().__call__()
        return None if obj is None else self._func.__get__(obj)

    def __eq__(self, other):
        if not isinstance(other, WeakMethod):
            return NotImplemented
        mine, its = self(), other()
        if mine is None or its is None:
            return self is other
        return mine.__self__ is its.__self__ and self._func is other._func

    __hash__ = ReferenceType.__hash__


class WeakValueDictionary(_Mapping):
    """A mapping whose entries go with their values."""

    def __init__(self, other=(), /, **kw):
        self.data = {}
        self.update(other, **kw)

    def _live(self):
        _weak.settle()
        return {k: r for k, r in self.data.items() if r() is not None}

    def __getitem__(self, key):
        obj = self.data[key]()
        if obj is None:
            raise KeyError(key)
        return obj

    def _gone(self, r):
        if self.data.get(r.key) is r:
            del self.data[r.key]

    def __setitem__(self, key, value):
        self.data[key] = KeyedRef(value, self._gone, key)

    def __delitem__(self, key):
        del self.data[key]

    def __contains__(self, key):
        held = self.data.get(key)
        return held is not None and held() is not None

    def __len__(self):
        return len(self._live())

    def __iter__(self):
        return iter(self._live())

    def __repr__(self):
        return f"<WeakValueDictionary at {id(self):#x}>"

    def copy(self):
        return WeakValueDictionary(self)

    __copy__ = copy

    def __deepcopy__(self, memo):
        from copy import deepcopy
        return type(self)({deepcopy(k, memo): v for k, v in self.items()})

    def get(self, key, default=None):
        held = self.data.get(key)
        obj = None if held is None else held()
        return default if obj is None else obj

    def setdefault(self, key, default=None):
        obj = self.get(key)
        if obj is None:
            self[key] = obj = default
        return obj

    def valuerefs(self):
        return list(self.data.values())

    itervaluerefs = valuerefs

    def __or__(self, other):
        out = self.copy()
        out.update(other)
        return out

    def __ior__(self, other):
        self.update(other)
        return self


class WeakKeyDictionary(_Mapping):
    """A mapping whose entries go with their keys."""

    def __init__(self, dict=None):
        self.data = {}
        if dict is not None:
            self.update(dict)

    def _gone(self, r):
        self.data.pop(r, None)

    def _live(self):
        _weak.settle()
        return [(k, r) for r in list(self.data) if (k := r()) is not None]

    def __getitem__(self, key):
        return self.data[ref(key)]

    def __setitem__(self, key, value):
        r = ReferenceType(key, self._gone)
        hash(r)
        self.data[r] = value

    def __delitem__(self, key):
        del self.data[ref(key)]

    def __contains__(self, key):
        try:
            wanted = ref(key)
        except TypeError:
            return False
        return wanted in self.data

    def __len__(self):
        return len(self._live())

    def __iter__(self):
        for key, _ in self._live():
            yield key

    def __repr__(self):
        return f"<WeakKeyDictionary at {id(self):#x}>"

    def copy(self):
        return WeakKeyDictionary(self)

    __copy__ = copy

    def get(self, key, default=None):
        return self.data.get(ref(key), default)

    def setdefault(self, key, default=None):
        return self.data.setdefault(ReferenceType(key, self._gone), default)

    def keyrefs(self):
        return list(self.data)

    def __or__(self, other):
        out = self.copy()
        out.update(other)
        return out

    def __ior__(self, other):
        self.update(other)
        return self


class WeakSet(_Set):
    """A set whose elements go when nothing else has them."""

    def __init__(self, data=None):
        self.data = set()
        for x in data if data is not None else ():
            self.add(x)

    def _gone(self, r):
        self.data.discard(r)

    def _live(self):
        _weak.settle()
        return [x for r in list(self.data) if (x := r()) is not None]

    def add(self, item):
        r = ReferenceType(item, self._gone)
        hash(r)
        self.data.add(r)

    def discard(self, item):
        self.data.discard(ref(item))

    def remove(self, item):
        self.data.remove(ref(item))

    def pop(self):
        for x in self._live():
            self.discard(x)
            return x
        raise KeyError("pop from empty WeakSet")

    def clear(self):
        self.data.clear()

    def update(self, other):
        for x in other:
            self.add(x)

    def copy(self):
        return type(self)(self)

    def union(self, other):
        return type(self)([*self, *other])

    def __contains__(self, item):
        try:
            wanted = ref(item)
        except TypeError:
            return False
        return wanted in self.data

    def __len__(self):
        return len(self._live())

    def __iter__(self):
        return iter(self._live())

    def __repr__(self):
        return repr({ref(x) for x in self._live()})


_live_finalizers = {}


class finalize:
    """A call made when an object goes, or at the end of the program."""

    def __init__(self, obj, func, /, *args, **kwargs):
        self._call, self._obj = (func, args, kwargs), None
        self.atexit = True
        self._obj = ReferenceType(obj, self)
        _live_finalizers[id(self)] = self

    def __call__(self, _=None):
        call, self._call = self._call, None
        if call is None or _live_finalizers.pop(id(self), None) is None:
            return None
        func, args, kwargs = call
        return func(*args, **kwargs)

    def detach(self):
        obj = self._obj()
        if obj is None or _live_finalizers.pop(id(self), None) is None:
            return None
        call, self._call = self._call, None
        return (obj, *call)

    def peek(self):
        obj = self._obj()
        if obj is None or self._call is None:
            return None
        return (obj, *self._call)

    @property
    def alive(self):
        self._obj()
        return self._call is not None


def _finish():
    for f in reversed(list(_live_finalizers.values())):
        if f.atexit:
            f()


import atexit as _atexit                            # noqa: E402
_atexit.register(_finish)


def getweakrefcount(obj):
    return len(_weak.refs(obj))


def getweakrefs(obj):
    return _weak.refs(obj)


class ProxyType:
    """An object by its weak reference."""
    __slots__ = ("_ref",)

    def __init__(self, r):
        object.__setattr__(self, "_ref", r)

    def _there(self):
        obj = object.__getattribute__(self, "_ref")()
        if obj is None:
            raise ReferenceError("weakly-referenced object no longer exists")
        return obj

    def __getattribute__(self, name):
        if name == "_there":
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_there")(), name)

    def __setattr__(self, name, value):
        setattr(self._there(), name, value)

    def __delattr__(self, name):
        delattr(self._there(), name)

    def __str__(self):
        return str(self._there())

    def __repr__(self):
        obj = self._there()
        return (f"<weakproxy at {id(self):#x} to {type(obj).__name__} at "
                f"{id(obj):#x}>")

    def __bool__(self):
        return bool(self._there())

    def __len__(self):
        return len(self._there())

    def __getitem__(self, key):
        return self._there()[key]

    def __setitem__(self, key, value):
        self._there()[key] = value

    def __delitem__(self, key):
        del self._there()[key]

    def __iter__(self):
        return iter(self._there())

    def __contains__(self, x):
        return x in self._there()

    def __eq__(self, other):
        return self._there() == other

    def __lt__(self, other):
        return self._there() < other

    def __add__(self, other):
        return self._there() + other

    def __sub__(self, other):
        return self._there() - other

    def __mul__(self, other):
        return self._there() * other

    __hash__ = None


class CallableProxyType(ProxyType):
    __slots__ = ()

    def __call__(self, *args, **kwargs):
        return self._there()(*args, **kwargs)


ProxyTypes = (ProxyType, CallableProxyType)


def proxy(obj, callback=None, /):
    kind = CallableProxyType if callable(obj) else ProxyType
    return kind(ReferenceType(obj, callback))
