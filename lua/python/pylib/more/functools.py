# SPDX-License-Identifier: MIT
"""functools: what is easier said in Python."""
import typing
from functools import partial, wraps


class partialmethod:
    """A method with some of its arguments given."""

    def __init__(self, func, /, *args, **keywords):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        if isinstance(func, partialmethod):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func, self.args, self.keywords = func, args, keywords

    def __get__(self, obj, cls=None):
        if hasattr(type(self.func), "__get__") and not callable(self.func):
            return partial(self.func.__get__(obj, cls), *self.args,
                           **self.keywords)
        if obj is None:
            return partial(self.func, *self.args, **self.keywords)
        return partial(self.func, obj, *self.args, **self.keywords)


WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__",
                       "__annotations__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS,
                   updated=WRAPPER_UPDATES):
    if assigned != WRAPPER_ASSIGNMENTS or updated != WRAPPER_UPDATES:
        raise NotImplementedError("functools.update_wrapper with other names "
                                  "is not part of dtrepl")
    return wraps(wrapped)(wrapper)


def _is_class(x):
    return isinstance(x, type) or hasattr(x, "__mro__")


def _note_of_first(func):
    """The class that the first parameter's annotation names."""
    notes = getattr(func, "__annotations__", {})
    if not notes:
        raise TypeError(
            f"Invalid first argument to `register()`: {func!r}. Use either "
            "`@register(some_class)` or plain `@register` on an annotated "
            "function.")
    name, note = next(iter(typing.get_type_hints(func).items()))
    if typing.get_origin(note) is None and not _is_class(note):
        raise TypeError(f"Invalid annotation for {name!r}. {note!r} is not a "
                        "class.")
    return note


def _classes_of(note):
    """A class, or those that a union names."""
    if _is_class(note) or typing.get_origin(note) is None:
        return (note,)
    return typing.get_args(note)


def singledispatch(func):
    """A function whose body is chosen by the class of the first argument."""
    registry = {object: func}

    def dispatch(cls):
        for c in getattr(cls, "__mro__", (cls,)):
            if c is not object and c in registry:
                return registry[c]
        for c, f in reversed(list(registry.items())):
            if c is not object and issubclass(cls, c):
                return f
        return func

    def register(cls, func=None):
        if func is None:
            if _is_class(cls) or not callable(cls) \
                    or typing.get_origin(cls) is not None:
                return lambda f: register(cls, f)
            func = cls
            cls = _note_of_first(func)
        for c in _classes_of(cls):
            registry[c] = func
        return func

    @wraps(func)
    def wrapper(*args, **kw):
        if not args:
            raise TypeError(f"{func.__name__} requires at least 1 positional "
                            "argument")
        return dispatch(args[0].__class__)(*args, **kw)

    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = registry
    wrapper._clear_cache = lambda: None
    return wrapper


class singledispatchmethod:
    """The same for a method: by the class of what follows self."""

    def __init__(self, func):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self.dispatcher = singledispatch(func)
        self.func = func

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, func=method)

    def __get__(self, obj, cls=None):
        def method(*args, **kwargs):
            chosen = self.dispatcher.dispatch(args[0].__class__)
            if hasattr(chosen, "__get__"):
                return chosen.__get__(obj, cls)(*args, **kwargs)
            return chosen(obj, *args, **kwargs)
        method.register = self.register
        return method
