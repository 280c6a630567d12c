# SPDX-License-Identifier: MIT
"""dataclasses: classes whose annotated names are fields.  The methods are
written as Python text and read once for each class, so that their calls are
bound, and refused, as those of any function."""
import copy
import sys
from keyword import iskeyword
from types import MappingProxyType
import typing

__all__ = ["dataclass", "field", "Field", "FrozenInstanceError", "InitVar",
           "KW_ONLY", "MISSING", "fields", "asdict", "astuple",
           "make_dataclass", "replace", "is_dataclass"]


class FrozenInstanceError(AttributeError):
    pass


class _HAS_DEFAULT_FACTORY_CLASS:
    def __repr__(self):
        return "<factory>"


class _MISSING_TYPE:
    pass


class _KW_ONLY_TYPE:
    pass


_HAS_DEFAULT_FACTORY = _HAS_DEFAULT_FACTORY_CLASS()
MISSING = _MISSING_TYPE()
KW_ONLY = _KW_ONLY_TYPE()


class _Kind:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


_FIELD = _Kind("_FIELD")
_FIELD_CLASSVAR = _Kind("_FIELD_CLASSVAR")
_FIELD_INITVAR = _Kind("_FIELD_INITVAR")
_EMPTY = MappingProxyType({})
_FIELDS, _PARAMS = "__dataclass_fields__", "__dataclass_params__"


class InitVar:
    __slots__ = ("type",)

    def __init__(self, type):
        self.type = type

    def __repr__(self):
        inner = (self.type.__name__ if isinstance(self.type, type)
                 else repr(self.type))
        return f"dataclasses.InitVar[{inner}]"

    def __class_getitem__(cls, type):
        return InitVar(type)


_SHOWN = ("name", "type", "default", "default_factory", "init", "repr", "hash",
          "compare", "metadata", "kw_only", "_field_type")
_inside = []                        # the values whose text is being made


class Field:
    __slots__ = _SHOWN

    def __init__(self, default, default_factory, init, repr, hash, compare,
                 metadata, kw_only):
        self.name = self.type = self._field_type = None
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.hash = init, repr, hash
        self.compare, self.kw_only = compare, kw_only
        self.metadata = (_EMPTY if metadata is None
                         else MappingProxyType(metadata))

    def __repr__(self):
        if any(one is self for one in _inside):
            return "..."
        _inside.append(self)
        try:
            parts = [f"{name}={getattr(self, name)!r}" for name in _SHOWN]
        finally:
            _inside.pop()
        return "Field(" + ",".join(parts) + ")"

    def __set_name__(self, owner, name):
        told = getattr(type(self.default), "__set_name__", None)
        if told:
            told(self.default, owner, name)


class _DataclassParams:
    __slots__ = ("init", "repr", "eq", "order", "unsafe_hash", "frozen")

    def __init__(self, *values):
        for name, value in zip(self.__slots__, values):
            setattr(self, name, value)

    def __repr__(self):
        return "_DataclassParams(" + ",".join(
            f"{name}={getattr(self, name)!r}" for name in self.__slots__) + ")"


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True,
          hash=None, compare=True, metadata=None, kw_only=MISSING):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata,
                 kw_only)


# ---- what an annotation stands for ----

def _word_of(text):
    """The word that a text begins with, and what follows."""
    text, n = text.lstrip(), 0
    while n < len(text) and (text[n].isalnum() or text[n] == "_"):
        n += 1
    return text[:n], text[n:].lstrip()


def _named_by_text(text, cls):
    """What the first name of an annotation's text names where cls stands."""
    word, rest = _word_of(text)
    home = sys.modules.get(cls.__module__)
    if home is None:
        return None
    member = _word_of(rest[1:])[0] if rest.startswith(".") else ""
    value = home.__dict__.get(word)
    if not member:
        return value
    if value is typing or value is sys.modules.get(__name__):
        return getattr(value, member, None)
    return None


def _is_class_var(note):
    return note is typing.ClassVar or typing.get_origin(note) is typing.ClassVar


def _kind_of(note, cls):
    if isinstance(note, str):
        note = _named_by_text(note, cls)
    if _is_class_var(note):
        return _FIELD_CLASSVAR
    if note is InitVar or isinstance(note, InitVar):
        return _FIELD_INITVAR
    return _FIELD


def _is_kw_only(note, cls):
    if isinstance(note, str):
        note = _named_by_text(note, cls)
    return note is KW_ONLY


def _own_field(cls, name, note, kw_only):
    default = getattr(cls, name, MISSING)
    if isinstance(default, Field):
        f = default
    else:
        if name in getattr(cls, "__slots__", ()):
            default = MISSING
        f = field(default=default)
    f.name, f.type, f._field_type = name, note, _kind_of(note, cls)
    if f._field_type is not _FIELD and f.default_factory is not MISSING:
        raise TypeError(f"field {name} cannot have a default factory")
    if f._field_type is _FIELD_CLASSVAR:
        if f.kw_only is not MISSING:
            raise TypeError(f"field {name} is a ClassVar but specifies kw_only")
    elif f.kw_only is MISSING:
        f.kw_only = kw_only
    if (f._field_type is _FIELD and f.default is not MISSING
            and f.default.__class__.__hash__ is None):
        raise ValueError(f"mutable default {f.default.__class__} for field "
                         f"{name} is not allowed: use default_factory")
    return f


def _collect(cls, kw_only):
    """The fields of the classes above, then cls's own, by name."""
    out, notes = {}, cls.__dict__.get("__annotations__", {})
    for base in cls.__mro__[-1:0:-1]:
        out.update(getattr(base, _FIELDS, {}))
    marked = False
    for name, note in notes.items():
        if _is_kw_only(note, cls):
            if marked:
                raise TypeError(f"{name!r} is KW_ONLY, but KW_ONLY has already "
                                "been specified")
            marked = kw_only = True
            continue
        f = out[name] = _own_field(cls, name, note, kw_only)
        if isinstance(cls.__dict__.get(name), Field):
            if f.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, f.default)
    for name, value in cls.__dict__.items():
        if isinstance(value, Field) and name not in notes:
            raise TypeError(f"{name!r} is a field but has no type annotation")
    return out


# ---- methods ----

def _add(cls, name, method):
    """Whether the class has no such method of its own; then it gets this."""
    if name in cls.__dict__:
        return False
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)
    return True


def _read(name, params, body, names, returns=None):
    """The function of these lines."""
    lines = "\n".join("    " + line for line in body)
    names = {"__name__": "dataclasses", **names}
    exec(f"def {name}({', '.join(params)}):\n{lines}", names)
    return names[name]


def _parameter(f):
    if f.default is MISSING and f.default_factory is MISSING:
        return f.name
    if f.default is not MISSING:
        return f"{f.name}=_default_{f.name}"
    return f"{f.name}=_HAS_DEFAULT_FACTORY"


def _setting(f, frozen, self_name):
    """The line by which __init__ sets a field, or None."""
    value = f.name
    if f.default_factory is not MISSING:
        value = f"_default_{f.name}()"
        if f.init:
            value += f" if {f.name} is _HAS_DEFAULT_FACTORY else {f.name}"
    elif not f.init:
        if f.default is MISSING or f._field_type is _FIELD_INITVAR:
            return None
        value = f"_default_{f.name}"
    if f._field_type is _FIELD_INITVAR:
        return None
    if frozen:
        return f"_setattr({self_name}, {f.name!r}, {value})"
    return f"{self_name}.{f.name} = {value}"


def _init(cls, fields, frozen, slots):
    listed = [f for f in fields if f.init and not f.kw_only]
    named = [f for f in fields if f.init and f.kw_only]
    seen = None
    for f in listed:
        if f.default is not MISSING or f.default_factory is not MISSING:
            seen = f
        elif seen:
            raise TypeError(f"non-default argument {f.name!r} follows default "
                            "argument")
    self_name = ("__dataclass_self__" if any(f.name == "self" for f in fields)
                 else "self")
    params = [self_name] + [_parameter(f) for f in listed]
    if named:
        params += ["*"] + [_parameter(f) for f in named]
    body = []
    for f in fields:
        if not f.init and f.default is not MISSING and not slots \
                and f.default_factory is MISSING:
            continue                # the class has it
        line = _setting(f, frozen, self_name)
        if line:
            body.append(line)
    if hasattr(cls, "__post_init__"):
        given = ", ".join(f.name for f in fields
                          if f._field_type is _FIELD_INITVAR)
        body.append(f"{self_name}.__post_init__({given})")
    names = {"_HAS_DEFAULT_FACTORY": _HAS_DEFAULT_FACTORY,
             "_setattr": object.__setattr__}
    for f in fields:
        if f.default is not MISSING:
            names[f"_default_{f.name}"] = f.default
        elif f.default_factory is not MISSING:
            names[f"_default_{f.name}"] = f.default_factory
    method = _read("__init__", params, body or ["pass"], names)
    notes = {f.name: f.type for f in listed + named}
    notes["return"] = None
    method.__annotations__ = notes
    return method


def _repr(fields):
    shown = [f.name for f in fields if f.repr]

    def __repr__(self):
        if any(one is self for one in _inside):
            return "..."
        _inside.append(self)
        try:
            text = ", ".join([f"{name}={getattr(self, name)!r}"
                              for name in shown])
        finally:
            _inside.pop()
        return f"{self.__class__.__qualname__}({text})"
    return __repr__


def _values(self_name, fields):
    inner = "".join(f"{self_name}.{f.name}, " for f in fields)
    return f"({inner})" if inner else "()"


def _compare(name, sign, fields):
    left, right = _values("self", fields), _values("other", fields)
    return _read(name, ["self", "other"], [
        "if other.__class__ is self.__class__:",
        f"    return {left} {sign} {right}",
        "return NotImplemented"], {})


_ORDERS = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _freeze(cls, fields):
    names = tuple(f.name for f in fields)

    def refuse(self, name, what):
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot {what} field {name!r}")

    def __setattr__(self, name, value):
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self, name):
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    for method in (__setattr__, __delattr__):
        if not _add(cls, method.__name__, method):
            raise TypeError(f"Cannot overwrite attribute {method.__name__} in "
                            f"class {cls.__name__}")


def _set_hash(cls, fields, explicit, unsafe, eq, frozen):
    if unsafe and explicit:
        raise TypeError(f"Cannot overwrite attribute __hash__ in class "
                        f"{cls.__name__}")
    if explicit or not (unsafe or eq):
        return
    if not unsafe and not frozen:
        cls.__hash__ = None
        return
    counted = [f for f in fields if (f.compare if f.hash is None else f.hash)]
    method = _read("__hash__", ["self"],
                   [f"return hash({_values('self', counted)})"], {})
    method.__qualname__ = f"{cls.__qualname__}.__hash__"
    cls.__hash__ = method


def _check_above(cls, frozen):
    for base in cls.__mro__[-1:0:-1]:
        params = getattr(base, _PARAMS, None)
        if getattr(base, _FIELDS, None) is None or params is None:
            continue
        if params.frozen and not frozen:
            raise TypeError(
                "cannot inherit non-frozen dataclass from a frozen one")
        if frozen and not params.frozen:
            raise TypeError(
                "cannot inherit frozen dataclass from a non-frozen one")


def _note_text(note):
    if isinstance(note, type):
        if note.__module__ == "builtins":
            return note.__qualname__
        return f"{note.__module__}.{note.__qualname__}"
    return repr(note).replace("typing.", "")


def _doc(cls, fields):
    """The class's name and what it is called with."""
    parts = []
    listed = [f for f in fields if f.init and not f.kw_only]
    named = [f for f in fields if f.init and f.kw_only]
    for f in listed + named:
        if named and f is named[0]:
            parts.append("*")
        text = f"{f.name}: {_note_text(f.type)}"
        if f.default is not MISSING:
            text += f" = {f.default!r}"
        elif f.default_factory is not MISSING:
            text += " = <factory>"
        parts.append(text)
    return f"{cls.__name__}({', '.join(parts)})"


def _slot_names(cls):
    slots = cls.__dict__.get("__slots__")
    if slots is None:
        return
    if isinstance(slots, str):
        yield slots
    elif not hasattr(slots, "__next__"):
        yield from slots
    else:
        raise TypeError(f"Slots of '{cls.__name__}' cannot be determined")


def _get_state(self):
    return [getattr(self, f.name) for f in fields(self)]


def _set_state(self, state):
    for f, value in zip(fields(self), state):
        object.__setattr__(self, f.name, value)


def _with_slots(cls, names, frozen, weakref_slot):
    if "__slots__" in cls.__dict__:
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    above = {name for base in cls.__mro__[1:-1] for name in _slot_names(base)}
    slots = [name for name in names if name not in above]
    if weakref_slot and "__weakref__" not in above:
        slots.append("__weakref__")
    body = dict(cls.__dict__)
    for name in names:
        body.pop(name, None)
    body.pop("__dict__", None)
    body["__slots__"] = tuple(slots)
    body["__qualname__"] = cls.__qualname__
    new = type(cls)(cls.__name__, cls.__bases__, body)
    if frozen:
        if "__getstate__" not in body:
            new.__getstate__ = _get_state
        if "__setstate__" not in body:
            new.__setstate__ = _set_state
    return new


def _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args,
             kw_only, slots, weakref_slot):
    _check_above(cls, frozen)
    all_of = _collect(cls, kw_only)
    setattr(cls, _PARAMS, _DataclassParams(init, repr, eq, order, unsafe_hash,
                                           frozen))
    setattr(cls, _FIELDS, all_of)
    explicit_init = [f for f in all_of.values()
                     if f._field_type is not _FIELD_CLASSVAR]
    own = [f for f in explicit_init if f._field_type is _FIELD]
    compared = [f for f in own if f.compare]
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    if init:
        _add(cls, "__init__", _init(cls, explicit_init, frozen, slots))
    if repr:
        _add(cls, "__repr__", _repr(own))
    own_hash = cls.__dict__.get("__hash__", MISSING)
    if own_hash is None and "__eq__" in cls.__dict__:
        own_hash = MISSING          # Python set it beside __eq__
    if eq:
        _add(cls, "__eq__", _compare("__eq__", "==", compared))
    if order:
        for name, sign in _ORDERS.items():
            if not _add(cls, name, _compare(name, sign, compared)):
                raise TypeError(f"Cannot overwrite attribute {name} in class "
                                f"{cls.__name__}. Consider using "
                                "functools.total_ordering")
    if frozen:
        _freeze(cls, own)
    _set_hash(cls, own, own_hash is not MISSING, unsafe_hash, eq, frozen)
    if not getattr(cls, "__doc__", None):
        cls.__doc__ = _doc(cls, explicit_init)
    if match_args and "__match_args__" not in cls.__dict__:
        cls.__match_args__ = tuple(f.name for f in explicit_init
                                   if f.init and not f.kw_only)
    if weakref_slot and not slots:
        raise TypeError("weakref_slot is True but slots is False")
    if slots:
        cls = _with_slots(cls, [f.name for f in own], frozen, weakref_slot)
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False,
              unsafe_hash=False, frozen=False, match_args=True, kw_only=False,
              slots=False, weakref_slot=False):
    def wrap(cls):
        return _process(cls, init, repr, eq, order, unsafe_hash, frozen,
                        match_args, kw_only, slots, weakref_slot)
    return wrap if cls is None else wrap(cls)


# ---- of instances ----

def fields(class_or_instance):
    try:
        all_of = getattr(class_or_instance, _FIELDS)
    except AttributeError:
        raise TypeError("must be called with a dataclass type or "
                        "instance") from None
    return tuple(f for f in all_of.values() if f._field_type is _FIELD)


def _is_instance(x):
    return hasattr(type(x), _FIELDS)


def is_dataclass(obj):
    cls = obj if isinstance(obj, type) else type(obj)
    return hasattr(cls, _FIELDS)


def _unfold(x, of_fields):
    """x with copies of what is in it, its dataclasses by of_fields(pairs)."""
    if _is_instance(x):
        return of_fields([(f.name, _unfold(getattr(x, f.name), of_fields))
                          for f in fields(x)])
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[_unfold(v, of_fields) for v in x])
    if isinstance(x, (list, tuple)):
        return type(x)(_unfold(v, of_fields) for v in x)
    if isinstance(x, dict):
        pairs = [(_unfold(k, of_fields), _unfold(v, of_fields))
                 for k, v in x.items()]
        if hasattr(type(x), "default_factory"):
            out = type(x)(x.default_factory)
            for k, v in pairs:
                out[k] = v
            return out
        return type(x)(pairs)
    return copy.deepcopy(x)


def asdict(obj, *, dict_factory=dict):
    if not _is_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return _unfold(obj, dict_factory)


def astuple(obj, *, tuple_factory=tuple):
    if not _is_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return _unfold(obj, lambda pairs: tuple_factory([v for _, v in pairs]))


def replace(obj, /, **changes):
    if not _is_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for f in getattr(obj, _FIELDS).values():
        if f._field_type is _FIELD_CLASSVAR:
            continue
        if not f.init:
            if f.name in changes:
                raise ValueError(f"field {f.name} is declared with init=False, "
                                 "it cannot be specified with replace()")
            continue
        if f.name not in changes:
            if f._field_type is _FIELD_INITVAR and f.default is MISSING:
                raise ValueError(f"InitVar {f.name!r} must be specified with "
                                 "replace()")
            changes[f.name] = getattr(obj, f.name)
    return obj.__class__(**changes)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    names, notes = {}, {}
    if namespace is not None:
        names.update(namespace)
    for item in fields:
        if isinstance(item, str):
            name, note = item, "typing.Any"
        elif len(item) == 2:
            name, note = item
        elif len(item) == 3:
            name, note, names[item[0]] = item
        else:
            raise TypeError(f"Invalid field: {item!r}")
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"Field names must be valid identifiers: {name!r}")
        if iskeyword(name):
            raise TypeError(f"Field names must not be keywords: {name!r}")
        if name in notes:
            raise TypeError(f"Field name duplicated: {name!r}")
        notes[name] = note
    names["__annotations__"] = notes
    names.setdefault("__module__", "types")
    return dataclass(type(cls_name, tuple(bases), names), **options)
