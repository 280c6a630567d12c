# SPDX-License-Identifier: MIT
"""functools: what is easier said in Python."""
import types
import typing
from functools import wraps


_inside = []                        # whose text is being made


class partial:
    """A call with some of its arguments given."""
    __slots__ = ("func", "args", "keywords", "__dict__", "__weakref__")

    def __new__(cls, /, *args, **keywords):
        if not args:
            raise TypeError("type 'partial' takes at least one argument")
        func, *args = args
        if not callable(func):
            raise TypeError("the first argument must be callable")
        self = super().__new__(cls)
        if isinstance(func, partial) and not vars(func):
            args = [*func.args, *args]
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func, self.args, self.keywords = func, tuple(args), keywords
        return self

    def __init__(self, /, *args, **keywords):
        pass

    def __call__(self, /, *args, **keywords):
        if self.keywords:
            keywords = {**self.keywords, **keywords}
        return self.func(*self.args, *args, **keywords)

    def __repr__(self):
        name = type(self).__qualname__
        if type(self).__module__ == "functools":
            name = "functools." + name
        if any(one is self for one in _inside):
            return "..."
        _inside.append(self)
        try:
            parts = [repr(self.func), *map(repr, self.args)]
            parts += [f"{k}={v!r}" for k, v in self.keywords.items()]
        finally:
            _inside.pop()
        return f"{name}({', '.join(parts)})"

    def __reduce__(self):
        return type(self), (self.func,), (self.func, self.args, self.keywords,
                                          dict(vars(self)) or None)

    def __setstate__(self, state):
        if not isinstance(state, tuple) or len(state) != 4:
            raise TypeError("invalid partial state")
        func, args, keywords, own = state
        if not (callable(func) and isinstance(args, tuple)
                and (keywords is None or isinstance(keywords, dict))
                and (own is None or isinstance(own, dict))):
            raise TypeError("invalid partial state")
        for name in list(vars(self)):
            delattr(self, name)
        self.func, self.args = func, tuple(args)
        self.keywords = {} if keywords is None else keywords \
            if type(keywords) is dict else dict(keywords)
        for name, value in (own or {}).items():
            setattr(self, name, value)


class partialmethod:
    """A method with some of its arguments given."""

    def __init__(self, func, /, *args, **keywords):
        if not callable(func) and not hasattr(func, "__get__") \
                and not isinstance(func, classmethod):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        if isinstance(func, partialmethod):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func, self.args, self.keywords = func, args, keywords

    def __repr__(self):
        parts = [repr(self.func), *map(repr, self.args)]
        parts += [f"{name}={v!r}" for name, v in self.keywords.items()]
        return f"functools.partialmethod({', '.join(parts)})"

    def __get__(self, obj, cls=None):
        func = self.func
        if isinstance(func, staticmethod):
            return partial(func.__func__, *self.args, **self.keywords)
        if isinstance(func, classmethod):
            return partial(func.__func__, cls, *self.args, **self.keywords)
        if hasattr(type(func), "__get__") and not callable(func):
            return partial(func.__get__(obj, cls), *self.args,
                           **self.keywords)
        if obj is not None:
            return partial(func, obj, *self.args, **self.keywords)

        def method(own, /, *args, **keywords):
            return func(own, *self.args, *args, **{**self.keywords, **keywords})
        method.__isabstractmethod__ = self.__isabstractmethod__
        return method

    @property
    def __isabstractmethod__(self):
        return getattr(self.func, "__isabstractmethod__", False)


# By the order that a class has: how each other one follows from what it says
# of self and other, and from their being equal.
_FOLLOWS = {
    "__lt__": {"__gt__": lambda said, a, b: not said and a != b,
               "__le__": lambda said, a, b: said or a == b,
               "__ge__": lambda said, a, b: not said},
    "__le__": {"__ge__": lambda said, a, b: not said or a == b,
               "__lt__": lambda said, a, b: said and a != b,
               "__gt__": lambda said, a, b: not said},
    "__gt__": {"__lt__": lambda said, a, b: not (said or a == b),
               "__ge__": lambda said, a, b: said or a == b,
               "__le__": lambda said, a, b: not said},
    "__ge__": {"__le__": lambda said, a, b: not said or a == b,
               "__gt__": lambda said, a, b: said and a != b,
               "__lt__": lambda said, a, b: not said},
}


def _order_by(root, name, follows):
    def method(self, other):
        said = getattr(type(self), root)(self, other)
        return said if said is NotImplemented else follows(said, self, other)
    method.__name__ = method.__qualname__ = name
    return method


def total_ordering(cls):
    own = [name for name in _FOLLOWS if getattr(cls, name, None)
           is not getattr(object, name, None)]
    if not own:
        raise ValueError(
            "must define at least one ordering operation: < > <= >=")
    for name, follows in _FOLLOWS[own[0]].items():
        if name not in own:
            setattr(cls, name, _order_by(own[0], name, follows))
    return cls


class KeyWrapper:
    """What is sorted by a function that compares two."""
    __slots__ = ("_compare", "obj")
    __hash__ = None

    def __init__(self, compare, obj):
        self._compare, self.obj = compare, obj

    def __lt__(self, other):
        return self._compare(self.obj, other.obj) < 0

    def __gt__(self, other):
        return self._compare(self.obj, other.obj) > 0

    def __eq__(self, other):
        return self._compare(self.obj, other.obj) == 0

    def __le__(self, other):
        return self._compare(self.obj, other.obj) <= 0

    def __ge__(self, other):
        return self._compare(self.obj, other.obj) >= 0


def cmp_to_key(mycmp):
    def K(obj):
        return KeyWrapper(mycmp, obj)
    return K


class cached_property:
    """A value that is made once and kept in the object."""

    def __init__(self, func):
        self.func, self.attrname = func, None
        self.__doc__ = func.__doc__

    def __set_name__(self, owner, name):
        if self.attrname not in (None, name):
            raise TypeError(
                "Cannot assign the same cached_property to two different names "
                f"({self.attrname!r} and {name!r}).")
        self.attrname = name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        if self.attrname is None:
            raise TypeError("Cannot use cached_property instance without "
                            "calling __set_name__ on it.")
        try:
            held = obj.__dict__
        except AttributeError:
            raise TypeError(
                f"No '__dict__' attribute on {type(obj).__name__!r} instance to "
                f"cache {self.attrname!r} property.") from None
        if self.attrname not in held:
            held[self.attrname] = self.func(obj)
        return held[self.attrname]


WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__",
                       "__annotations__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS,
                   updated=WRAPPER_UPDATES):
    if (isinstance(wrapper, types.FunctionType)
            and isinstance(wrapped, types.FunctionType)
            and assigned == WRAPPER_ASSIGNMENTS and updated == WRAPPER_UPDATES):
        return wraps(wrapped)(wrapper)
    for name in assigned:
        try:
            value = getattr(wrapped, name)
        except AttributeError:
            continue
        setattr(wrapper, name, value)
    for name in updated:
        getattr(wrapper, name).update(getattr(wrapped, name, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def _is_union(note):
    return (isinstance(note, types.UnionType)
            or typing.get_origin(note) is typing.Union)


def _is_class(x):
    return isinstance(x, type) and typing.get_origin(x) is None


def _may_be_registered(note):
    parts = typing.get_args(note) if _is_union(note) else (note,)
    return all(_is_class(part) for part in parts)


def _note_of_first(func):
    """The class that the first parameter's annotation names."""
    notes = getattr(func, "__annotations__", {})
    if not notes:
        raise TypeError(
            f"Invalid first argument to `register()`: {func!r}. Use either "
            "`@register(some_class)` or plain `@register` on an annotated "
            "function.")
    func = getattr(func, "__func__", func)
    name, note = next(iter(typing.get_type_hints(func).items()))
    if _may_be_registered(note):
        return note
    if _is_union(note):
        raise TypeError(f"Invalid annotation for {name!r}. {note!r} not all "
                        "arguments are classes.")
    raise TypeError(f"Invalid annotation for {name!r}. {note!r} is not a class.")


def _place_of(kind, order):
    """Where `kind` stands in a class's order.  One that is not in it, whose
    class it is by what it can do, stands behind the last class that is such."""
    if kind in order:
        return order.index(kind), 0
    last = 0
    for i, c in enumerate(order):
        if issubclass(c, kind):
            last = i
    return last, 1


def _nearest(cls, kinds):
    """The class among `kinds` that is nearest to cls."""
    order = list(getattr(cls, "__mro__", (cls,)))
    best, where = None, None
    for kind in kinds:
        if kind is object or not issubclass(cls, kind):
            continue
        place = _place_of(kind, order)
        if best is None or place < where or place == where and \
                issubclass(kind, best):
            best, where = kind, place
    for kind in kinds:
        if where is not None and where[1] and kind is not best \
                and kind is not object and issubclass(cls, kind) \
                and _place_of(kind, order) == where \
                and not issubclass(best, kind):
            raise RuntimeError(f"Ambiguous dispatch: {best} or {kind}")
    return object if best is None else best


def singledispatch(func):
    """A function whose body is chosen by the class of the first argument."""
    registry, chosen = {object: func}, {}

    def dispatch(cls):
        if cls not in chosen:
            chosen[cls] = registry[cls] if cls in registry \
                else registry[_nearest(cls, registry)]
        return chosen[cls]

    def register(cls, func=None):
        if _may_be_registered(cls):
            if func is None:
                return lambda f: register(cls, f)
        elif func is not None:
            raise TypeError("Invalid first argument to `register()`. "
                            f"{cls!r} is not a class or union type.")
        elif typing.get_origin(cls) is not None or not (
                callable(cls) or hasattr(cls, "__func__")):
            raise TypeError(
                f"Invalid first argument to `register()`: {cls!r}. Use either "
                "`@register(some_class)` or plain `@register` on an annotated "
                "function.")
        else:
            func, cls = cls, _note_of_first(cls)
        for kind in typing.get_args(cls) if _is_union(cls) else (cls,):
            registry[kind] = func
        chosen.clear()
        return func

    name = getattr(func, "__name__", "singledispatch function")

    @wraps(func)
    def wrapper(*args, **kw):
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **kw)

    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = types.MappingProxyType(registry)
    wrapper._clear_cache = chosen.clear
    return wrapper


class singledispatchmethod:
    """The same for a method: by the class of what follows self."""

    def __init__(self, func):
        if not callable(func) and not hasattr(func, "__get__") \
                and not isinstance(func, classmethod):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self.dispatcher = singledispatch(func)
        self.func = func

    @property
    def __isabstractmethod__(self):
        return getattr(self.func, "__isabstractmethod__", False)

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, func=method)

    def __get__(self, obj, cls=None):
        def method(*args, **kwargs):
            chosen = self.dispatcher.dispatch(args[0].__class__)
            if isinstance(chosen, staticmethod):
                return chosen.__func__(*args, **kwargs)
            if isinstance(chosen, classmethod):
                return chosen.__func__(cls or type(obj), *args, **kwargs)
            if hasattr(chosen, "__get__") and not callable(chosen):
                return chosen.__get__(obj, cls)(*args, **kwargs)
            return chosen(obj, *args, **kwargs)
        update_wrapper(method, self.func)
        method.register = self.register
        method.__isabstractmethod__ = self.__isabstractmethod__
        return method
