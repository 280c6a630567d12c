# SPDX-License-Identifier: MIT
"""contextlib: scopes out of generators, stacks of scopes, and small ones."""
import _absent
import abc
import functools
import sys

import _dtrepl


class AbstractContextManager(abc.ABC):
    """What a with statement enters."""

    def __enter__(self):
        return self

    @abc.abstractmethod
    def __exit__(self, exc_type, exc_value, traceback):
        return None

    @classmethod
    def __subclasshook__(cls, C):
        if cls is AbstractContextManager:
            return _dtrepl.has_methods(C, "__enter__", "__exit__")
        return NotImplemented


class ContextDecorator:
    """A scope that each call of a decorated function runs in."""

    def _recreate_cm(self):
        return self

    def __call__(self, func):
        @functools.wraps(func)
        def inner(*args, **kwds):
            with self._recreate_cm():
                return func(*args, **kwds)
        return inner


class _GeneratorContextManager(ContextDecorator, AbstractContextManager):
    """The scope of a generator: up to its yield, and from there on."""
    _of_generator = True

    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)
        self.func, self.args, self.kwds = func, args, kwds
        doc = getattr(func, "__doc__", None)
        self.__doc__ = type(self).__doc__ if doc is None else doc

    def _recreate_cm(self):
        return self.__class__(self.func, self.args, self.kwds)

    def __enter__(self):
        self.args = self.kwds = self.func = None
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, value, traceback):
        if kind is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            try:
                raise RuntimeError("generator didn't stop")
            finally:
                self.gen.close()
        if value is None:
            value = kind()
        try:
            self.gen.throw(value)
        except StopIteration as error:
            return error is not value
        except RuntimeError as error:
            if error is value:
                return False
            if isinstance(value, StopIteration) and error.__cause__ is value:
                return False
            raise
        except BaseException as error:
            if error is not value:
                raise
            return False
        try:
            raise RuntimeError("generator didn't stop after throw()")
        finally:
            self.gen.close()


def contextmanager(func):
    @functools.wraps(func)
    def helper(*args, **kwds):
        return _GeneratorContextManager(func, args, kwds)
    return helper


class closing(AbstractContextManager):
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exc_info):
        self.thing.close()


class _RedirectStream(AbstractContextManager):
    _stream = None

    def __init__(self, new_target):
        self._new_target = new_target
        self._old_targets = []

    def __enter__(self):
        self._old_targets.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._new_target)
        return self._new_target

    def __exit__(self, kind, value, traceback):
        setattr(sys, self._stream, self._old_targets.pop())


class redirect_stdout(_RedirectStream):
    _stream = "stdout"


class redirect_stderr(_RedirectStream):
    _stream = "stderr"


class suppress(AbstractContextManager):
    _ends_errors = True             # the shell does not stop at what it ends

    def __init__(self, *exceptions):
        self._exceptions = exceptions

    def __enter__(self):
        pass

    def __exit__(self, kind, value, traceback):
        return kind is not None and issubclass(kind, self._exceptions)


class nullcontext(AbstractContextManager):
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *excinfo):
        pass


def _methods_of(scope):
    cls = type(scope)
    for name in ("__enter__", "__exit__"):
        if not hasattr(cls, name) and not hasattr(scope, name):
            raise TypeError("'%s.%s' object does not support the context "
                            "manager protocol" % (cls.__module__,
                                                  cls.__qualname__))


class ExitStack(AbstractContextManager):
    """Scopes and calls that are left in the order opposite to the one they
    were entered in."""

    def __init__(self):
        self._exit_callbacks = []

    def pop_all(self):
        new = type(self)()
        new._exit_callbacks, self._exit_callbacks = self._exit_callbacks, []
        return new

    def push(self, exit):
        if hasattr(type(exit), "__exit__"):
            self._exit_callbacks.append(
                lambda *details: _dtrepl.leave(exit, *details))
        else:
            self._exit_callbacks.append(exit)
        return exit

    def enter_context(self, cm):
        _methods_of(cm)
        result = _dtrepl.enter(cm)
        self._exit_callbacks.append(
            lambda *details: _dtrepl.leave(cm, *details))
        return result

    def callback(self, callback, /, *args, **kwds):
        def run(kind, value, traceback):
            callback(*args, **kwds)
        run.__wrapped__ = callback
        self._exit_callbacks.append(run)
        return callback

    def close(self):
        self.__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        had, swallowed, raised = kind is not None, False, False
        outer = value
        while self._exit_callbacks:
            leave = self._exit_callbacks.pop()
            try:
                if leave(kind, value, traceback):
                    swallowed, raised = had, False
                    kind = value = traceback = None
            except BaseException as error:
                last = error
                while (last.__context__ is not None
                       and last.__context__ is not value
                       and last.__context__ is not outer):
                    last = last.__context__
                if last is not value:
                    last.__context__ = value
                kind, value, traceback = type(error), error, None
                raised = True
        if raised:
            fixed = value.__context__
            try:
                raise value
            except BaseException:
                value.__context__ = fixed
                raise
        return had and swallowed and kind is None


def asynccontextmanager(func):
    raise _absent.error("contextlib.asynccontextmanager is not part of "
                        "dtrepl: async is not")
