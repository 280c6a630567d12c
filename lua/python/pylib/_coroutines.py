# SPDX-License-Identifier: MIT
"""_coroutines: what the calls of async functions give (later.lua)."""
import _absent


class _Given:
    """What an async generator yields itself."""
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class _Async:
    def __init__(self, gen, name, qualname):
        self._gen = gen
        self.__name__, self.__qualname__ = name, qualname

    def _frame(self):
        if self._gen.gi_state == "GEN_CLOSED":
            return None
        raise _absent.error(f"the frame of {self!r}, which has not ended, is "
                            "not part of dtrepl")

    def __repr__(self):
        return (f"<{type(self).__name__} object {self.__qualname__} at "
                f"{id(self):#x}>")


class coroutine(_Async):
    cr_frame = property(_Async._frame)
    _state = property(lambda self: self._gen.gi_state)

    def __await__(self):
        if self._state == "GEN_CLOSED":
            raise RuntimeError("cannot reuse already awaited coroutine")
        return self._gen

    def send(self, value, /):
        if self._state == "GEN_CLOSED":
            raise RuntimeError("cannot reuse already awaited coroutine")
        return self._gen.send(value)

    def throw(self, *error):
        if self._state == "GEN_CLOSED":
            raise RuntimeError("cannot reuse already awaited coroutine")
        return self._gen.throw(*error)

    def close(self):
        self._gen.close()

    @property
    def cr_running(self):
        return self._state == "GEN_RUNNING"

    @property
    def cr_suspended(self):
        return self._state == "GEN_SUSPENDED"

    @property
    def cr_await(self):
        return self._gen.gi_yieldfrom


class _Step:
    """One step of an async generator: it is awaited."""

    def __init__(self, owner, begin):
        self._run = self._steps(owner, begin)

    def _steps(self, owner, begin):
        gen = owner._gen
        if owner._running:
            raise RuntimeError("anext(): asynchronous generator is already "
                               "running")
        owner._running = True
        try:
            out = begin(gen)
            while not isinstance(out, _Given):
                try:
                    sent = yield out
                except BaseException as e:
                    out = gen.throw(e)
                else:
                    out = gen.send(sent)
        except StopIteration:
            end = StopAsyncIteration()
        else:
            return out.value
        finally:
            owner._running = False
        raise end

    def __await__(self):
        return self._run

    __iter__ = __await__

    def __next__(self):
        return next(self._run)

    def send(self, value, /):
        return self._run.send(value)

    def throw(self, *error):
        return self._run.throw(*error)

    def close(self):
        self._run.close()


class async_generator(_Async):
    ag_frame = property(_Async._frame)
    _running = False

    def __aiter__(self):
        return self

    def __anext__(self):
        return _Step(self, lambda gen: gen.send(None))

    def asend(self, value, /):
        return _Step(self, lambda gen: gen.send(value))

    def athrow(self, *error):
        return _Step(self, lambda gen: gen.throw(*error))

    def aclose(self):
        return _Closing(self)

    @property
    def ag_running(self):
        return self._running


class _Closing(_Step):
    def __init__(self, owner):
        self._run = self._close(owner)

    def _close(self, owner):
        if owner._gen.gi_state == "GEN_CREATED":
            owner._gen.close()
            return None
        try:
            yield from self._steps(
                owner, lambda gen: gen.throw(GeneratorExit()))
        except (GeneratorExit, StopAsyncIteration):
            return None
        raise RuntimeError("async generator ignored GeneratorExit")


class anext_awaitable:
    """anext(it, default): the default where there is no next."""

    def __init__(self, step, default):
        self._step, self._default = step, default

    def __await__(self):
        try:
            return (yield from self._step.__await__())
        except StopAsyncIteration:
            return self._default


class _GeneratorWrapper:
    """What a function that types.coroutine() has marked gives."""

    def __init__(self, gen):
        self._gen = gen

    def __await__(self):
        return self._gen

    def __iter__(self):
        return self._gen

    def __next__(self):
        return next(self._gen)

    def __getattr__(self, name):
        return getattr(self._gen, name)


for _kind in (coroutine, async_generator, anext_awaitable):
    _kind.__module__ = "builtins"
