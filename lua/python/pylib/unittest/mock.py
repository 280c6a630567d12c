# SPDX-License-Identifier: MIT
"""unittest.mock: objects that note how they are used, and names that are
something else for a while.

Not here: autospec of signatures (autospec= makes a mock that takes anything),
mock_open, seal, wraps of attributes.
"""
import functools
import importlib
import inspect

DEFAULT = type("_Default", (), {"__repr__": lambda self: "sentinel.DEFAULT"})()
_MISSING = object()


class _Sentinels:
    def __init__(self):
        self._made = {}

    def __getattr__(self, name):
        if name == "DEFAULT":
            return DEFAULT
        if name not in self._made:
            kind = type("_SentinelObject", (), {
                "__repr__": lambda self: f"sentinel.{self.name}"})
            self._made[name] = kind()
            self._made[name].name = name
        return self._made[name]


sentinel = _Sentinels()


class _Any:
    """Equal to everything."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __repr__(self):
        return "<ANY>"

    __hash__ = None


ANY = _Any()


def _arguments(args, kwargs):
    words = [repr(a) for a in args]
    return ", ".join(words + [f"{k}={v!r}" for k, v in kwargs.items()])


class _Call(tuple):
    """A call: its name, arguments and keywords."""

    def __new__(cls, value=(), name="", two=False):
        args, kwargs = (), {}
        for part in value:
            if isinstance(part, str) and not name:
                name = part
            elif isinstance(part, tuple):
                args = part
            elif isinstance(part, dict):
                kwargs = part
        made = tuple.__new__(cls, (args, kwargs) if two else
                             (name, args, kwargs))
        made._name, made._args, made._kwargs = name, args, kwargs
        return made

    @property
    def args(self):
        return self._args

    @property
    def kwargs(self):
        return self._kwargs

    def __eq__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        if not isinstance(other, _Call):
            other = _Call(other)
        if self._name and other._name and self._name != other._name:
            return False
        # An argument that is ANY asks first.
        return ((other._args, other._kwargs) == (self._args, self._kwargs)
                or (self._args, self._kwargs) == (other._args, other._kwargs))

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __call__(self, *args, **kwargs):
        return _Call((args, kwargs), self._name or "")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Call((), f"{self._name}.{name}" if self._name else name)

    def __repr__(self):
        name = f"call.{self._name}" if self._name else "call"
        return f"{name}({_arguments(self._args, self._kwargs)})"


call = _Call((), "")


class _CallList(list):
    def __contains__(self, value):
        if not isinstance(value, list):
            return list.__contains__(self, value)
        n = len(value)
        return any(self[i:i + n] == value for i in range(len(self) - n + 1))


def _parent_names(mock):
    """What a mock is called from the outermost on."""
    name, parent = mock._mock_name, mock._mock_parent
    if parent is None:
        return name or "mock"
    above = _parent_names(parent)
    return above + name if name == "()" else f"{above}.{name}"


def _is_exception(value):
    return isinstance(value, BaseException) or (
        isinstance(value, type) and issubclass(value, BaseException))


class NonCallableMock:
    _mock_magic = False

    def __init__(self, spec=None, side_effect=None, return_value=DEFAULT,
                 wraps=None, name=None, spec_set=None, unsafe=False, **kwargs):
        spec = spec if spec_set is None else spec_set
        names = spec
        if spec is not None and not isinstance(spec, (list, tuple)):
            names = dir(spec)
        kind = None
        if spec is not None and not isinstance(spec, (list, tuple)):
            kind = spec if isinstance(spec, type) else type(spec)
        for key, value in (
                ("_mock_children", {}), ("_mock_parent", None),
                ("_mock_name", name), ("_mock_names", names),
                ("_mock_strict", spec_set is not None), ("_mock_kind", kind),
                ("_mock_wraps", wraps), ("_mock_return", return_value),
                ("side_effect", side_effect)):
            object.__setattr__(self, key, value)
        NonCallableMock.reset_mock(self)
        self.configure_mock(**kwargs)

    def configure_mock(self, **kwargs):
        for name, value in sorted(kwargs.items(), key=lambda x: x[0].count(".")):
            target = self
            *path, last = name.split(".")
            for part in path:
                target = getattr(target, part)
            setattr(target, last, value)

    def reset_mock(self, visited=None, *, return_value=False,
                   side_effect=False):
        for key, value in (("called", False), ("call_count", 0),
                           ("call_args", None), ("call_args_list", _CallList()),
                           ("mock_calls", _CallList()),
                           ("method_calls", _CallList())):
            object.__setattr__(self, key, value)
        if return_value:
            object.__setattr__(self, "_mock_return", DEFAULT)
        if side_effect:
            self.side_effect = None
        for child in self._mock_children.values():
            if isinstance(child, NonCallableMock):
                child.reset_mock()

    def _child(self, name):
        kind = type(self)
        if not issubclass(kind, CallableMixin):
            kind = MagicMock if self._mock_magic else Mock
        child = kind(name=name)
        object.__setattr__(child, "_mock_parent", self)
        return child

    @property
    def return_value(self):
        if self._mock_return is DEFAULT:
            self.return_value = self._child("()")
        return self._mock_return

    @return_value.setter
    def return_value(self, value):
        object.__setattr__(self, "_mock_return", value)

    @property
    def __class__(self):
        return self._mock_kind or type(self)

    def __getattr__(self, name):
        if name.startswith("_mock_") or (name.startswith("__") and
                                         name.endswith("__")):
            raise AttributeError(name)
        if self._mock_names is not None and name not in self._mock_names:
            raise AttributeError(f"Mock object has no attribute {name!r}")
        if name.startswith(("assert", "assret", "asert", "aseert", "assrt")):
            raise AttributeError(
                f"{name!r} is not a valid assertion. Use a spec for the mock "
                f"if {name!r} is meant to be an attribute.")
        child = self._mock_children.get(name, _MISSING)
        if child is None:
            raise AttributeError(name)
        if child is _MISSING:
            child = self._child(name)
            if self._mock_wraps is not None:
                object.__setattr__(child, "_mock_wraps",
                                   getattr(self._mock_wraps, name))
            self._mock_children[name] = child
        return child

    def __setattr__(self, name, value):
        if (self._mock_strict and name not in self._mock_names
                and name not in self.__dict__ and name != "return_value"):
            raise AttributeError(f"Mock object has no attribute '{name}'")
        if isinstance(value, NonCallableMock) and value._mock_parent is None \
                and value._mock_name is None and name != "return_value":
            object.__setattr__(value, "_mock_parent", self)
            object.__setattr__(value, "_mock_name", name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        if name in self.__dict__:
            object.__delattr__(self, name)
        self._mock_children[name] = None

    def attach_mock(self, mock, attribute):
        object.__setattr__(mock, "_mock_parent", None)
        object.__setattr__(mock, "_mock_name", None)
        setattr(self, attribute, mock)

    def __repr__(self):
        name = _parent_names(self)
        shown = "" if name == "mock" else f" name={name!r}"
        kind = f" spec={self._mock_kind.__name__!r}" if self._mock_kind else ""
        return f"<{type(self).__name__}{shown}{kind} id='{id(self)}'>"

    # ---- what is asserted ----

    def _shown(self, args, kwargs):
        return f"{self._mock_name or 'mock'}({_arguments(args, kwargs)})"

    def _mismatch(self, args, kwargs):
        return ("expected call not found.\n"
                f"Expected: {self._shown(args, kwargs)}\n"
                f"  Actual: {self._shown(*self.call_args)}")

    def _calls_text(self):
        if not self.mock_calls:
            return ""
        return f"\nCalls: {list(self.mock_calls)!r}."

    def _times(self):
        n = self.call_count
        return f"Called {n} times.{self._calls_text()}"

    def assert_called(self):
        if self.call_count == 0:
            raise AssertionError(f"Expected '{self._mock_name or 'mock'}' to "
                                 "have been called.")

    def assert_not_called(self):
        if self.call_count:
            raise AssertionError(f"Expected '{self._mock_name or 'mock'}' to "
                                 f"not have been called. {self._times()}")

    def assert_called_once(self):
        if self.call_count != 1:
            raise AssertionError(f"Expected '{self._mock_name or 'mock'}' to "
                                 f"have been called once. {self._times()}")

    def assert_called_with(self, *args, **kwargs):
        if self.call_args is None:
            raise AssertionError("expected call not found.\nExpected: "
                                 f"{self._shown(args, kwargs)}\n"
                                 "  Actual: not called.")
        if _Call((args, kwargs), two=True) != self.call_args:
            raise AssertionError(self._mismatch(args, kwargs))

    def assert_called_once_with(self, *args, **kwargs):
        if self.call_count != 1:
            raise AssertionError(f"Expected '{self._mock_name or 'mock'}' to "
                                 f"be called once. {self._times()}")
        self.assert_called_with(*args, **kwargs)

    def assert_any_call(self, *args, **kwargs):
        if _Call((args, kwargs), two=True) not in list(self.call_args_list):
            raise AssertionError(f"{self._shown(args, kwargs)} call not found")

    def assert_has_calls(self, calls, any_order=False):
        calls, made = [_Call(c) for c in calls], list(self.mock_calls)
        if not any_order:
            if calls not in self.mock_calls:
                raise AssertionError(f"Calls not found.\nExpected: {calls!r}\n"
                                     f"  Actual: {made!r}")
            return
        for wanted in calls:
            if wanted not in made:
                raise AssertionError(f"{(wanted,)!r} not all found in call "
                                     f"list, {made!r} instead")
            made.remove(wanted)


class CallableMixin:
    def __call__(self, *args, **kwargs):
        self.called = True
        self.call_count += 1
        self.call_args = _Call((args, kwargs), two=True)
        self.call_args_list.append(self.call_args)
        self._note(args, kwargs)
        effect = self.side_effect
        if effect is not None:
            if _is_exception(effect):
                raise effect
            if not callable(effect):
                if not hasattr(effect, "__next__"):
                    effect = self.side_effect = iter(effect)
                result = next(effect)
                if _is_exception(result):
                    raise result
            else:
                result = effect(*args, **kwargs)
            if result is not DEFAULT:
                return result
        if self._mock_return is not DEFAULT:
            return self._mock_return
        if self._mock_wraps is not None:
            return self._mock_wraps(*args, **kwargs)
        return self.return_value

    def _note(self, args, kwargs):
        """Tell those above, by the name that each has for it."""
        self.mock_calls.append(_Call((args, kwargs)))
        name, at = "", self
        while at._mock_parent is not None:
            step = at._mock_name
            name = step + name if name.startswith("()") or not name \
                else f"{step}.{name}"
            method = "()" not in name
            at = at._mock_parent
            at.mock_calls.append(_Call((args, kwargs), name))
            if method:
                at.method_calls.append(_Call((args, kwargs), name))


class Mock(CallableMixin, NonCallableMock):
    pass


class _MagicMixin:
    """Methods of Python's own that answer something."""
    _mock_magic = True

    def _magic(self, name, default):
        child = self._mock_children.get(name)
        if child is None:
            child = self._mock_children[name] = MagicMock(name=name)
            object.__setattr__(child, "_mock_parent", self)
            if default is not _MISSING:
                child.return_value = default
        return child


class _Magic:
    """A method of Python's own of each mock, a mock itself."""

    def __init__(self, name, default):
        self.name, self.default = name, default

    def __get__(self, obj, kind=None):
        return self if obj is None else obj._magic(self.name, self.default)


for _name, _default in (
        ("__len__", 0), ("__bool__", True), ("__contains__", False),
        ("__int__", 1), ("__float__", 1.0), ("__index__", 1),
        ("__getitem__", _MISSING), ("__setitem__", None),
        ("__delitem__", None), ("__exit__", False), ("__add__", _MISSING),
        ("__sub__", _MISSING), ("__mul__", _MISSING),
        ("__truediv__", _MISSING), ("__enter__", _MISSING)):
    setattr(_MagicMixin, _name, _Magic(_name, _default))
_MagicMixin.__iter__ = lambda self: iter(self._magic("__iter__", [])())


class MagicMock(_MagicMixin, Mock):
    pass


class NonCallableMagicMock(_MagicMixin, NonCallableMock):
    pass


class PropertyMock(Mock):
    """A property whose uses are noted."""

    def __get__(self, obj, obj_type=None):
        return self()

    def __set__(self, obj, value):
        self(value)


def create_autospec(spec, spec_set=False, instance=False, **kwargs):
    made = MagicMock(spec=spec, **kwargs)
    if isinstance(spec, type) and not instance:
        made.return_value = MagicMock(spec=spec)
    return made


class _patch:
    def __init__(self, target, attribute, new, kwargs):
        self._target, self.attribute = target, attribute
        self.new, self.kwargs = new, kwargs
        self.additional = []

    def copy(self):
        return _patch(self._target, self.attribute, self.new, self.kwargs)

    def __enter__(self):
        self.target = self._target()
        name = self.attribute
        self.original = getattr(self.target, name, _MISSING)
        own = getattr(self.target, "__dict__", None)
        self.local = (own is None or name in own or not (
            isinstance(self.target, type)
            or hasattr(type(self.target), name)))
        if isinstance(self.target, type) and own is not None and name in own:
            self.original = own[name]
        kwargs = dict(self.kwargs)
        create = kwargs.pop("create", False)
        if self.original is _MISSING and not create:
            raise AttributeError(f"{self.target!r} does not have the "
                                 f"attribute {name!r}")
        new = self.new
        if new is DEFAULT:
            new = self._make(kwargs)
        setattr(self.target, name, new)
        self.made = new
        return new

    def _make(self, kwargs):
        factory = kwargs.pop("new_callable", None)
        autospec = kwargs.pop("autospec", None)
        if factory is not None:
            return factory(**kwargs)
        made = MagicMock(name=self.attribute, **kwargs)
        if autospec and isinstance(self.target, type) and \
                inspect.isfunction(self.original):
            return _bound(made)
        return made

    def __exit__(self, *exc):
        if self.original is _MISSING or not self.local:
            delattr(self.target, self.attribute)
        else:
            setattr(self.target, self.attribute, self.original)
        return False

    def start(self):
        _active.append(self)
        return self.__enter__()

    def stop(self):
        if self in _active:
            _active.remove(self)
            self.__exit__(None, None, None)

    def __call__(self, f):
        if isinstance(f, type):
            for name in dir(f):
                if name.startswith(patch.TEST_PREFIX) and callable(
                        getattr(f, name)):
                    setattr(f, name, self.copy()(getattr(f, name)))
            return f

        @functools.wraps(f)
        def wrapped(*args, **kwargs):
            with self.copy() as made:
                if self.new is DEFAULT:
                    args += (made,)
                return f(*args, **kwargs)

        return wrapped


_FORWARDED = ("assert_called", "assert_not_called", "assert_called_once",
              "assert_called_with", "assert_called_once_with",
              "assert_any_call", "assert_has_calls", "reset_mock")


def _bound(mock):
    """A function in a class, so that it is given self, that stands for a
    mock."""
    def function(*args, **kwargs):
        result = mock(*args, **kwargs)
        for name in ("called", "call_count", "call_args", "call_args_list",
                     "mock_calls"):
            setattr(function, name, getattr(mock, name))
        return result

    for name in _FORWARDED:
        setattr(function, name, getattr(mock, name))
    function.called, function.call_count = False, 0
    function.call_args, function.call_args_list = None, mock.call_args_list
    function.mock = mock
    return function


_active = []


def _importer(path):
    module, *rest = path.split(".")
    found = importlib.import_module(module)
    at = module
    for part in rest:
        at += "." + part
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(at)
    return found


def _options(**options):
    return {k: v for k, v in options.items() if v is not None}


def patch(target, new=DEFAULT, spec=None, create=False, spec_set=None,
          autospec=None, new_callable=None, **kwargs):
    """The object at that path is another one for a while."""
    if "." not in target:
        raise TypeError("Need a valid target to patch. You supplied: "
                        f"{target!r}")
    path, attribute = target.rsplit(".", 1)
    kwargs.update(_options(spec=spec, create=create or None,
                           spec_set=spec_set, autospec=autospec,
                           new_callable=new_callable))
    return _patch(lambda: _importer(path), attribute, new, kwargs)


def _patch_object(target, attribute, new=DEFAULT, spec=None, create=False,
                  spec_set=None, autospec=None, new_callable=None, **kwargs):
    kwargs.update(_options(spec=spec, create=create or None,
                           spec_set=spec_set, autospec=autospec,
                           new_callable=new_callable))
    return _patch(lambda: target, attribute, new, kwargs)


class _patch_dict:
    """A dictionary with other values for a while."""

    def __init__(self, in_dict, values=(), clear=False, **kwargs):
        self.in_dict, self.clear = in_dict, clear
        self.values = dict(values)
        self.values.update(kwargs)

    def __enter__(self):
        if isinstance(self.in_dict, str):
            self.in_dict = _importer(self.in_dict)
        self.original = dict(self.in_dict)
        if self.clear:
            self._empty()
        for key, value in self.values.items():
            self.in_dict[key] = value
        return self.in_dict

    def _empty(self):
        for key in list(self.in_dict):
            del self.in_dict[key]

    def __exit__(self, *exc):
        self._empty()
        for key, value in self.original.items():
            self.in_dict[key] = value
        return False

    start = __enter__

    def stop(self):
        self.__exit__(None, None, None)

    def __call__(self, f):
        @functools.wraps(f)
        def wrapped(*args, **kwargs):
            with self:
                return f(*args, **kwargs)

        return wrapped


def _stop_all():
    for one in reversed(list(_active)):
        one.stop()


patch.object = _patch_object
patch.dict = _patch_dict
patch.stopall = _stop_all
patch.TEST_PREFIX = "test"
