# SPDX-License-Identifier: MIT
"""types: classes that have no name of their own, and classes made by calls."""
import collections.abc as _abc
from _coroutines import async_generator as AsyncGeneratorType
from _coroutines import coroutine as CoroutineType


def _generator():
    yield


class _Class:
    def method(self):
        pass


FunctionType = LambdaType = type(_generator)
GeneratorType = type(_generator())
MethodType = type(_Class().method)
BuiltinFunctionType = BuiltinMethodType = type(len)
NoneType = type(None)
EllipsisType = type(...)
NotImplementedType = type(NotImplemented)


def coroutine(func):
    import functools
    import inspect
    from _coroutines import _GeneratorWrapper
    if not callable(func):
        raise TypeError("types.coroutine() expects a callable")
    if not inspect.isgeneratorfunction(func):
        return func

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return _GeneratorWrapper(func(*args, **kwargs))
    return wrapped


def new_class(name, bases=(), kwds=None, exec_body=None):
    names = {}
    if exec_body is not None:
        exec_body(names)
    return type(name, tuple(bases), names, **(kwds or {}))


def resolve_bases(bases):
    return bases


class MappingProxyType:
    """A mapping that is seen and not changed."""

    def __init__(self, mapping):
        if not hasattr(mapping, "__getitem__") or isinstance(
                mapping, (list, tuple, str)):
            raise TypeError("mappingproxy() argument must be a mapping, not "
                            + type(mapping).__name__)
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"mappingproxy({self._mapping!r})"

    def __str__(self):
        return str(self._mapping)

    def __eq__(self, other):
        if isinstance(other, MappingProxyType):
            other = other._mapping
        return self._mapping == other

    def __or__(self, other):
        if isinstance(other, MappingProxyType):
            other = other._mapping
        return self._mapping | other

    def __setitem__(self, key, value):
        raise TypeError("'mappingproxy' object does not support item "
                        "assignment")

    def __delitem__(self, key):
        raise TypeError("'mappingproxy' object does not support item deletion")

    def get(self, key, default=None):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()

    def copy(self):
        return self._mapping.copy()


MappingProxyType.__name__ = MappingProxyType.__qualname__ = "mappingproxy"
_abc.Mapping.register(MappingProxyType)


CodeType = type(_generator.__code__)


def _cell():
    value = None

    def inner():
        return value
    return type(inner.__closure__[0])


def _traceback():
    try:
        raise TypeError
    except TypeError as error:
        return type(error.__traceback__)


CellType, TracebackType = _cell(), _traceback()


def prepare_class(name, bases=(), kwds=None):
    kwds = dict(kwds or {})
    meta = kwds.pop("metaclass", type(bases[0]) if bases else type)
    prepare = getattr(meta, "__prepare__", None)
    return meta, prepare(name, bases, **kwds) if prepare else {}, kwds


class DynamicClassAttribute(property):
    """A property of instances; the class is asked by its metaclass."""

    def __get__(self, instance, ownerclass=None):
        if instance is None:
            raise AttributeError()
        return super().__get__(instance, ownerclass)
