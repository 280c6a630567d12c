# SPDX-License-Identifier: MIT
"""_async_scopes: what contextlib has for `async with`."""
import abc
import contextlib
import functools


class AbstractAsyncContextManager(abc.ABC):
    async def __aenter__(self):
        return self

    @abc.abstractmethod
    async def __aexit__(self, exc_type, exc_value, traceback):
        return None


class AsyncContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, func):
        @functools.wraps(func)
        async def inner(*args, **kwds):
            async with self._recreate_cm():
                return await func(*args, **kwds)
        return inner


async def _next(gen):
    try:
        return await gen.__anext__()
    except StopAsyncIteration:
        return contextlib._ENDED


class _AsyncGeneratorContextManager(AsyncContextDecorator,
                                    AbstractAsyncContextManager):
    def __init__(self, func, args, kwds):
        self.func, self.args, self.kwds = func, args, kwds
        self.gen = func(*args, **kwds)

    def _recreate_cm(self):
        return type(self)(self.func, self.args, self.kwds)

    async def __aenter__(self):
        value = await _next(self.gen)
        if value is contextlib._ENDED:
            raise RuntimeError("generator didn't yield")
        return value

    async def __aexit__(self, kind, error, trace):
        if kind is None:
            if await _next(self.gen) is not contextlib._ENDED:
                await self._refuse("generator didn't stop")
            return False
        thrown = kind() if error is None else error
        try:
            await self.gen.athrow(thrown)
        except StopAsyncIteration as end:
            return end is not thrown
        except BaseException as raised:
            if not contextlib._is_same_end(raised, thrown):
                raise
            return False
        await self._refuse("generator didn't stop after athrow()")

    async def _refuse(self, text):
        try:
            raise RuntimeError(text)
        finally:
            await self.gen.aclose()


def asynccontextmanager(func):
    @functools.wraps(func)
    def helper(*args, **kwds):
        return _AsyncGeneratorContextManager(func, args, kwds)
    return helper


class aclosing(AbstractAsyncContextManager):
    def __init__(self, thing):
        self.thing = thing

    async def __aenter__(self):
        return self.thing

    async def __aexit__(self, *exc_info):
        await self.thing.aclose()


class _Later:
    """A scope of `with` or a callback, left as one of `async with` is."""

    def __init__(self, leave):
        self.leave = leave

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        return self.leave(*exc)


class AsyncExitStack(AbstractAsyncContextManager):
    def __init__(self):
        self._scopes = []

    async def enter_async_context(self, cm):
        value = await type(cm).__aenter__(cm)
        self._scopes.append(cm)
        return value

    def enter_context(self, cm):
        value = cm.__enter__()
        self._scopes.append(_Later(cm.__exit__))
        return value

    def push_async_exit(self, exit):
        self._scopes.append(exit)
        return exit

    def push(self, exit):
        self._scopes.append(_Later(getattr(exit, "__exit__", exit)))
        return exit

    def callback(self, callback, /, *args, **kwds):
        def leave(*exc):
            callback(*args, **kwds)
        self._scopes.append(_Later(leave))
        return callback

    def push_async_callback(self, callback, /, *args, **kwds):
        class Scope:
            async def __aexit__(self, *exc):
                await callback(*args, **kwds)
        self._scopes.append(Scope())
        return callback

    def pop_all(self):
        out = type(self)()
        out._scopes, self._scopes = self._scopes, []
        return out

    async def aclose(self):
        await self.__aexit__(None, None, None)

    async def __aexit__(self, kind, error, trace):
        given, failed = error, False
        while self._scopes:
            scope = self._scopes.pop()
            try:
                if await scope.__aexit__(
                        None if error is None else type(error), error,
                        None if error is None else error.__traceback__):
                    error, failed = None, False
            except BaseException as raised:
                error, failed = raised, True
        if failed:
            raise error
        return given is not None and error is None


for _kind in (AbstractAsyncContextManager, AsyncContextDecorator,
              AsyncExitStack, aclosing):
    _kind.__module__ = "contextlib"
