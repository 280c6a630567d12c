# SPDX-License-Identifier: MIT
"""contextlib: scopes out of generators, stacks of scopes, and small ones."""
import _absent
import abc
import functools
import sys
from collections import deque

import _dtrepl

__all__ = ["asynccontextmanager", "contextmanager", "closing", "nullcontext",
           "AbstractContextManager", "AbstractAsyncContextManager",
           "AsyncExitStack", "ContextDecorator", "ExitStack",
           "redirect_stdout", "redirect_stderr", "suppress", "aclosing",
           "chdir"]


class AbstractContextManager(abc.ABC):
    """What a with statement enters."""

    def __enter__(self):
        return self

    @abc.abstractmethod
    def __exit__(self, kind, error, trace):
        pass

    @classmethod
    def __subclasshook__(cls, other):
        return (_dtrepl.has_methods(other, "__enter__", "__exit__")
                if cls is AbstractContextManager else NotImplemented)


class ContextDecorator:
    """A scope that each call of a decorated function runs in."""

    def _recreate_cm(self):
        return self

    def __call__(self, func):
        def inside(*given, **named):
            with self._recreate_cm():
                return func(*given, **named)
        return functools.update_wrapper(inside, func)


# ---- a generator as a scope ----

_ENDED = object()


def _is_same_end(raised, thrown):
    """Is what the generator raised only what was thrown into it?  Python makes
    a RuntimeError of a StopIteration that leaves a generator."""
    return raised is thrown or (
        isinstance(raised, RuntimeError) and isinstance(thrown, StopIteration)
        and raised.__cause__ is thrown)


class _GeneratorContextManager(ContextDecorator, AbstractContextManager):
    """The scope of a generator: up to its yield, and from there on."""
    _of_generator = True

    def __init__(self, func, args, kwds):
        self.func, self.args, self.kwds = func, args, kwds
        self.gen = func(*args, **kwds)
        text = getattr(func, "__doc__", None)
        self.__doc__ = text if text is not None else type(self).__doc__

    def _recreate_cm(self):
        return type(self)(self.func, self.args, self.kwds)

    def __enter__(self):
        for name in ("func", "args", "kwds"):
            setattr(self, name, None)       # needed no more
        value = next(self.gen, _ENDED)
        if value is _ENDED:
            raise RuntimeError("generator didn't yield")
        return value

    def __exit__(self, kind, error, trace):
        if kind is None:
            if next(self.gen, _ENDED) is not _ENDED:
                self._refuse("generator didn't stop")
            return False
        thrown = kind() if error is None else error
        try:
            self.gen.throw(thrown)
        except StopIteration as end:
            return end is not thrown
        except BaseException as raised:
            if not _is_same_end(raised, thrown):
                raise
            return False
        self._refuse("generator didn't stop after throw()")

    def _refuse(self, text):
        try:
            raise RuntimeError(text)
        finally:
            self.gen.close()


def contextmanager(func):
    def scope(*args, **kwds):
        return _GeneratorContextManager(func, args, kwds)
    return functools.update_wrapper(scope, func)


# ---- small scopes ----

class _Holder(AbstractContextManager):
    """A scope that is about one thing, which it gives to `as`."""
    _default = _ENDED

    def __init__(self, *thing):
        if len(thing) != 1 and (thing or self._default is _ENDED):
            raise TypeError(f"{type(self).__name__}() takes one argument, not "
                            f"{len(thing)}")
        self._held = thing[0] if thing else self._default

    def __enter__(self):
        return self._held

    def __exit__(self, *details):
        self._leave()

    def _leave(self):
        """What is done at the end: nothing."""


class nullcontext(_Holder):
    def __init__(self, enter_result=None):
        super().__init__(enter_result)
        self.enter_result = enter_result


class closing(_Holder):
    def __init__(self, thing):
        super().__init__(thing)
        self.thing = thing

    def _leave(self):
        self._held.close()


class _Redirected(_Holder):
    """sys.stdout or sys.stderr is another stream, as often as it is entered."""
    _stream = None

    def __init__(self, new_target):
        super().__init__(new_target)
        self._before = []

    def __enter__(self):
        self._before.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._held)
        return self._held

    def _leave(self):
        setattr(sys, self._stream, self._before.pop())


class redirect_stdout(_Redirected):
    _stream = "stdout"


class redirect_stderr(_Redirected):
    _stream = "stderr"


class chdir(AbstractContextManager):
    """Another working folder."""

    def __init__(self, path):
        self.path, self._before = path, []

    def __enter__(self):
        import os
        self._before.append(os.getcwd())
        os.chdir(self.path)

    def __exit__(self, *details):
        import os
        os.chdir(self._before.pop())


class suppress(AbstractContextManager):
    _ends_errors = True             # the shell does not stop at what it ends

    def __init__(self, *exceptions):
        self._exceptions = exceptions

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return False if kind is None else issubclass(kind, self._exceptions)


# ---- stacks of scopes ----

def _check_scope(scope):
    kind = type(scope)
    if _dtrepl.is_guard(scope):
        return
    for name in ("__enter__", "__exit__"):
        own = hasattr(kind, name) or (kind.__module__ != "__main__"
                                      and hasattr(scope, name))
        if not own:
            raise TypeError(f"'{kind.__module__}.{kind.__qualname__}' object "
                            "does not support the context manager protocol")


def _relink(error, older, outer):
    """What came below `error` out of `outer`, which all of the stack is left
    by, came out of `older`, the error before this one."""
    while error.__context__ not in (None, older):
        if error.__context__ is outer:
            error.__context__ = older
            return
        error = error.__context__
    if error.__context__ is None and outer is None:
        error.__context__ = older


class ExitStack(AbstractContextManager):
    """Scopes and calls that are left in the order opposite to the one they
    were entered in: pairs of True (none waits) and the function to call."""

    def __init__(self):
        self._exit_callbacks = deque()

    def _add(self, leave):
        self._exit_callbacks.append((True, leave))

    def _add_scope(self, scope):
        def leave(kind, error, trace):
            return _dtrepl.leave(scope, kind, error, trace)
        leave.__self__ = scope
        self._add(leave)

    def pop_all(self):
        other = type(self)()
        other._exit_callbacks = self._exit_callbacks
        self._exit_callbacks = deque()
        return other

    def push(self, exit):
        if hasattr(type(exit), "__exit__"):
            self._add_scope(exit)
        else:
            self._add(exit)
        return exit

    def enter_context(self, cm):
        _check_scope(cm)
        value = _dtrepl.enter(cm)
        self._add_scope(cm)
        return value

    def callback(self, callback, /, *args, **kwds):
        def leave(kind, error, trace):
            callback(*args, **kwds)
        leave.__wrapped__ = callback
        self._add(leave)
        return callback

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, error, trace):
        outer, now = error, (kind, error, trace)
        ended = raised = False
        while self._exit_callbacks:
            leave = self._exit_callbacks.pop()[1]
            try:
                if leave(*now):
                    ended, raised, now = True, False, (None, None, None)
            except BaseException as new:
                _relink(new, now[1], outer)
                raised, now = True, (type(new), new, new.__traceback__)
        if not raised:
            return kind is not None and ended
        before = now[1].__context__
        try:
            raise now[1]
        except BaseException as last:
            last.__context__ = before       # not what is being handled here
            raise


_ASYNC = ("AbstractAsyncContextManager", "AsyncContextDecorator",
          "AsyncExitStack", "aclosing", "asynccontextmanager")


def __getattr__(name):
    if name in _ASYNC:
        import _async_scopes
        return getattr(_async_scopes, name)
    raise AttributeError(f"module 'contextlib' has no attribute {name!r}")
