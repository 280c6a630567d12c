# SPDX-License-Identifier: MIT
"""inspect: what functions and classes say of themselves.  Texts and frames are
not kept and are refused by name."""
import _absent
import enum
import sys
import types
from collections import namedtuple

import _functions


class _empty:
    """Marks a default or an annotation that is not there."""


class _ParameterKind(enum.IntEnum):
    POSITIONAL_ONLY = 0, "positional-only"
    POSITIONAL_OR_KEYWORD = 1, "positional or keyword"
    VAR_POSITIONAL = 2, "variadic positional"
    KEYWORD_ONLY = 3, "keyword-only"
    VAR_KEYWORD = 4, "variadic keyword"

    def __new__(cls, value, description):
        kind = int.__new__(cls, value)
        kind._value_ = value
        kind.description = description
        return kind

    def __str__(self):
        return self.name


class Parameter:
    POSITIONAL_ONLY = _ParameterKind.POSITIONAL_ONLY
    POSITIONAL_OR_KEYWORD = _ParameterKind.POSITIONAL_OR_KEYWORD
    VAR_POSITIONAL = _ParameterKind.VAR_POSITIONAL
    KEYWORD_ONLY = _ParameterKind.KEYWORD_ONLY
    VAR_KEYWORD = _ParameterKind.VAR_KEYWORD
    empty = _empty

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name, self.kind = name, _ParameterKind(kind)
        self.default, self.annotation = default, annotation

    def replace(self, **changes):
        fields = dict(name=self.name, kind=self.kind, default=self.default,
                      annotation=self.annotation)
        fields.update(changes)
        name, kind = fields.pop("name"), fields.pop("kind")
        return Parameter(name, kind, **fields)

    def __str__(self):
        text = self.name
        if self.annotation is not _empty:
            text += ": " + formatannotation(self.annotation)
        if self.default is not _empty:
            equals = " = " if self.annotation is not _empty else "="
            text += equals + repr(self.default)
        return ("*" if self.kind == 2 else "**" if self.kind == 4 else "") + text

    def __repr__(self):
        return f'<Parameter "{self}">'

    def __eq__(self, other):
        if not isinstance(other, Parameter):
            return NotImplemented
        return ((self.name, self.kind, self.default, self.annotation)
                == (other.name, other.kind, other.default, other.annotation))


def formatannotation(annotation):
    if isinstance(annotation, type):
        if annotation.__module__ in ("builtins", "__main__"):
            return annotation.__qualname__
        return annotation.__module__ + "." + annotation.__qualname__
    text = repr(annotation)
    return text if text.startswith("typing.Annotated") \
        else text.replace("typing.", "")


class BoundArguments:
    def __init__(self, signature, arguments):
        self.signature, self.arguments = signature, arguments

    @property
    def args(self):
        out = []
        for p in self.signature.parameters.values():
            if p.kind in (3, 4) or p.name not in self.arguments:
                break
            value = self.arguments[p.name]
            out.extend(value if p.kind == 2 else [value])
        return tuple(out)

    @property
    def kwargs(self):
        out, named = {}, False
        for p in self.signature.parameters.values():
            named = named or p.kind in (3, 4)
            if p.name not in self.arguments:
                named = named or p.kind != 2
                continue
            if not named:
                continue
            if p.kind == 4:
                out.update(self.arguments[p.name])
            elif p.kind != 2:
                out[p.name] = self.arguments[p.name]
        return out

    def apply_defaults(self):
        out = {}
        for p in self.signature.parameters.values():
            if p.name in self.arguments:
                out[p.name] = self.arguments[p.name]
            elif p.default is not _empty:
                out[p.name] = p.default
            elif p.kind == 2:
                out[p.name] = ()
            elif p.kind == 4:
                out[p.name] = {}
        self.arguments = out

    def __repr__(self):
        inner = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"<BoundArguments ({inner})>"


class Signature:
    empty = _empty

    def __init__(self, parameters=None, *, return_annotation=_empty):
        self.parameters = types.MappingProxyType(
            {p.name: p for p in parameters or ()})
        self.return_annotation = return_annotation

    def replace(self, *, parameters=None, return_annotation=None):
        return Signature(
            self.parameters.values() if parameters is None else parameters,
            return_annotation=(self.return_annotation
                               if return_annotation is None
                               else return_annotation))

    def __str__(self):
        out, only, starred = [], False, False
        for p in self.parameters.values():
            if p.kind == 0:
                only = True
            elif only:
                out.append("/")
                only = False
            if p.kind == 2:
                starred = True
            elif p.kind == 3 and not starred:
                out.append("*")
                starred = True
            out.append(str(p))
        if only:
            out.append("/")
        text = "(" + ", ".join(out) + ")"
        if self.return_annotation is not _empty:
            text += " -> " + formatannotation(self.return_annotation)
        return text

    def __repr__(self):
        return f"<Signature {self}>"

    def __eq__(self, other):
        if not isinstance(other, Signature):
            return NotImplemented
        return (list(self.parameters.values())
                == list(other.parameters.values())
                and self.return_annotation == other.return_annotation)

    def _bind(self, args, kwargs, partial):
        out, left, kwargs = {}, list(args), dict(kwargs)
        for p in self.parameters.values():
            if p.kind == 2:
                if left:
                    out[p.name] = tuple(left)
                left = []
            elif p.kind == 4:
                if kwargs:
                    out[p.name] = kwargs
                kwargs = {}
            elif left and p.kind in (0, 1):
                if p.kind == 1 and p.name in kwargs:
                    raise TypeError(
                        f"multiple values for argument {p.name!r}")
                out[p.name] = left.pop(0)
            elif p.name in kwargs and p.kind != 0:
                out[p.name] = kwargs.pop(p.name)
            elif p.default is _empty and not partial:
                raise TypeError(f"missing a required argument: {p.name!r}")
        if left:
            raise TypeError("too many positional arguments")
        if kwargs:
            raise TypeError("got an unexpected keyword argument "
                            f"{next(iter(kwargs))!r}")
        return BoundArguments(self, out)

    def bind(self, /, *args, **kwargs):
        return self._bind(args, kwargs, False)

    def bind_partial(self, /, *args, **kwargs):
        return self._bind(args, kwargs, True)


def _of_function(f, skip):
    rows = _functions.parameters(f, _empty)
    stub = _functions.stub(f) if rows is None else None
    if stub is not None:
        return _of_function(stub, skip)
    if rows is None:
        if not callable(f):
            raise TypeError(f"{f!r} is not a callable object")
        raise _absent.error(f"inspect.signature of {f!r} is not part of "
                            "dtrepl: the parameters of what is built in "
                            "are not kept")
    notes = f.__annotations__
    out = [Parameter(name, kind, default=default,
                     annotation=notes.get(name, _empty))
           for name, kind, default, _ in rows]
    return Signature(out[skip:],
                     return_annotation=notes.get("return", _empty))


def _is_bare(cls):
    """Has neither the class nor one above it a way of its own to be made?"""
    return all(c is object or c.__module__ == "__main__"
               for c in cls.__mro__) and type(cls) is type


def signature(obj, *, follow_wrapped=True):
    is_bound, _ = _functions.bound_to(obj)
    if is_bound:
        inner = signature(obj.__func__, follow_wrapped=follow_wrapped)
        rows = list(inner.parameters.values())
        if rows and rows[0].kind in (0, 1):     # self; not of (*args)
            del rows[0]
        return Signature(rows, return_annotation=inner.return_annotation)
    wrapped = _functions.wrapped(obj) if follow_wrapped else None
    if wrapped is not None:
        return signature(wrapped)
    if isinstance(obj, type):
        for name in ("__init__", "__new__"):
            method = getattr(obj, name, None)
            if _functions.parameters(method, _empty) is not None:
                own = _of_function(method, 1)
                return Signature(own.parameters.values(),
                                 return_annotation=own.return_annotation)
        if obj.__module__ == "__main__" and _is_bare(obj):
            return Signature()
        return _of_function(obj, 0)
    if not isfunction(obj) and hasattr(type(obj), "__call__"):
        method = type(obj).__call__
        if isfunction(method):
            return _of_function(method, 1)
    return _of_function(obj, 0)


FullArgSpec = namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs "
                         "kwonlydefaults annotations")


def getfullargspec(func):
    func = getattr(func, "__func__", func)      # of a method: with its self
    params = signature(func).parameters.values()

    def names(*kinds):
        return [p.name for p in params if p.kind in kinds]

    notes = {"return": signature(func).return_annotation}
    notes.update((p.name, p.annotation) for p in params)
    return FullArgSpec(
        names(0, 1), next(iter(names(2)), None), next(iter(names(4)), None),
        tuple(p.default for p in params
              if p.kind in (0, 1) and p.default is not _empty) or None,
        names(3),
        {p.name: p.default for p in params
         if p.kind == 3 and p.default is not _empty} or None,
        {name: x for name, x in notes.items() if x is not _empty})


def isclass(object):
    return isinstance(object, type)


def isfunction(object):
    return isinstance(object, types.FunctionType)


def ismethod(object):
    return isinstance(object, types.MethodType)


def isdatadescriptor(object):
    if isclass(object) or ismethod(object) or isfunction(object):
        return False
    kind = type(object)
    return hasattr(kind, "__set__") or hasattr(kind, "__delete__") \
        or isinstance(object, property)


def ismethoddescriptor(object):
    if isclass(object) or ismethod(object) or isfunction(object):
        return False
    kind = type(object)
    return hasattr(kind, "__get__") and not hasattr(kind, "__set__") \
        and not isinstance(object, property)


def iscode(object):
    return isinstance(object, types.CodeType)


def isbuiltin(object):
    return isinstance(object, types.BuiltinFunctionType)


def isroutine(object):
    return isfunction(object) or ismethod(object) or isbuiltin(object)


def isgenerator(object):
    return isinstance(object, types.GeneratorType)


def isgeneratorfunction(obj):
    is_bound, _ = _functions.bound_to(obj)
    return _functions.is_generator(obj.__func__ if is_bound else obj)


GEN_CREATED, GEN_RUNNING = "GEN_CREATED", "GEN_RUNNING"
GEN_SUSPENDED, GEN_CLOSED = "GEN_SUSPENDED", "GEN_CLOSED"


def getgeneratorstate(generator):
    return generator.gi_state


CORO_CREATED, CORO_RUNNING = "CORO_CREATED", "CORO_RUNNING"
CORO_SUSPENDED, CORO_CLOSED = "CORO_SUSPENDED", "CORO_CLOSED"
CO_OPTIMIZED, CO_NEWLOCALS, CO_VARARGS, CO_VARKEYWORDS = 1, 2, 4, 8
CO_NESTED, CO_GENERATOR, CO_COROUTINE = 16, 32, 128
CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR = 256, 512


def getcoroutinestate(coroutine):
    return coroutine._state.replace("GEN", "CORO")


def get_annotations(obj, *, globals=None, locals=None, eval_str=False):
    if isinstance(obj, type):
        notes = obj.__dict__.get("__annotations__", None)
    elif callable(obj) or ismodule(obj):
        notes = getattr(obj, "__annotations__", None)
    else:
        raise TypeError(f"{obj!r} is not a module, class, or callable.")
    if eval_str and notes and any(isinstance(v, str) for v in notes.values()):
        if globals is None and locals is None:
            import typing
            return {k: v for k, v in typing.get_type_hints(obj).items()
                    if k in notes}
        return {k: eval(v, globals, locals) if isinstance(v, str) else v
                for k, v in notes.items()}
    return dict(notes or {})


def getcallargs(func, /, *args, **kwargs):
    if ismethod(func):
        args, func = (func.__self__, *args), func.__func__
    try:
        bound = signature(func).bind(*args, **kwargs)
    except TypeError:
        func(*args, **kwargs)               # says what is wrong
        raise
    bound.apply_defaults()
    return dict(bound.arguments)


_MISSING = object()


def getattr_static(obj, attr, default=_MISSING):
    kind = obj if isinstance(obj, type) else type(obj)
    if not isinstance(obj, type):
        own = getattr(obj, "__dict__", {})
        for c in kind.__mro__:
            if attr in vars(c) and isdatadescriptor(vars(c)[attr]):
                return vars(c)[attr]
        if attr in own:
            return own[attr]
    for c in (*kind.__mro__, *(type(kind).__mro__ if kind is obj else ())):
        if attr in vars(c):
            return vars(c)[attr]
    if default is not _MISSING:
        return default
    raise AttributeError(attr)


def ismodule(object):
    return type(object).__name__ == "module"


def _async_kind(obj):
    is_bound, _ = _functions.bound_to(obj)
    obj = obj.__func__ if is_bound else obj
    return _functions.async_kind(getattr(obj, "func", obj))


def iscoroutinefunction(obj):
    return _async_kind(obj) == "coroutine"


def isasyncgenfunction(obj):
    return _async_kind(obj) == "generator"


def _is(object, name):
    kind = type(object)
    return kind.__name__ == name and kind.__module__ == "builtins"


def iscoroutine(object):
    return _is(object, "coroutine")


def isasyncgen(object):
    return _is(object, "async_generator")


def isawaitable(object):
    return hasattr(type(object), "__await__")


def isabstract(object):
    return isinstance(object, type) and bool(
        getattr(object, "__abstractmethods__", ()))


def unwrap(func, *, stop=None):
    while (stop is None or not stop(func)) and (
            _functions.wrapped(func) is not None):
        func = _functions.wrapped(func)
    return func


def getdoc(object):
    doc = getattr(object, "__doc__", None)
    if doc is None:
        doc = _doc_above(object)
    return None if not isinstance(doc, str) else cleandoc(doc)


def _doc_above(object):
    """The text of the method, or of the class, above this one."""
    if isclass(object):
        return next((c.__doc__ for c in object.__mro__[1:-1]
                     if c.__doc__ is not None), None)
    f = getattr(object, "fget", None) or getattr(object, "__func__", object)
    *outer, name = getattr(f, "__qualname__", "").split(".")
    owner = sys.modules.get(getattr(f, "__module__", None))
    for part in outer:
        owner = getattr(owner, part, None)
    if not outer or not isclass(owner):
        return None
    for c in owner.__mro__[1:]:
        doc = getattr(getattr(c, name, None), "__doc__", None)
        if doc is not None:
            return doc
    return None


def cleandoc(doc):
    lines = doc.expandtabs().split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines[1:]
               if line.lstrip()]
    margin = min(margins) if margins else 0
    lines = [lines[0].lstrip(), *(line[margin:] for line in lines[1:])]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def getmembers(object, predicate=None):
    out = []
    for name in dir(object):
        try:
            value = getattr(object, name)
        except AttributeError:
            continue
        if predicate is None or predicate(value):
            out.append((name, value))
    return out


def getmro(cls):
    return cls.__mro__


def currentframe():
    return sys._getframe()     # the library has no frames


_SOURCE = ("findsource", "FrameInfo", "getblock", "getcomments",
           "getfile", "getmodule", "getmodulename", "getsource",
           "getsourcefile", "getsourcelines", "isframe", "istraceback",
           "stack")


def __getattr__(name):
    if name in _SOURCE:
        import _inspect_source
        return getattr(_inspect_source, name)
    if name in ("trace", "getinnerframes", "getouterframes", "getargvalues",
                "getclosurevars", "classify_class_attrs"):
        raise _absent.error(f"inspect.{name} is not part of dtrepl")
    raise AttributeError(f"module 'inspect' has no attribute {name!r}")
