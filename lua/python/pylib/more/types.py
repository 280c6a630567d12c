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
    import _absent
    raise _absent.error("types.coroutine is not part of dtrepl; async def is")


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
