# SPDX-License-Identifier: MIT
"""asyncio.futures: CancelledError, Future and Task."""
import contextvars
import itertools

import _async_loop as _loop
from _coroutines import coroutine


class CancelledError(BaseException):
    __module__ = "asyncio.exceptions"


class InvalidStateError(Exception):
    __module__ = "asyncio.exceptions"


_PENDING, _CANCELLED, _FINISHED = "PENDING", "CANCELLED", "FINISHED"
_task_names = itertools.count(1)


def isfuture(obj):
    return isinstance(obj, Future)


class Future:
    _state = _PENDING
    _result = _exception = _message = None

    def __init__(self, *, loop=None):
        self._loop = loop or _loop.current_or_new()
        self._callbacks = []

    def __repr__(self):
        facts = [self._state.lower()]
        if self._state == _FINISHED:
            facts.append(f"exception={self._exception!r}"
                         if self._exception is not None
                         else f"result={self._result!r}")
        return f"<{type(self).__name__} {' '.join(facts)}>"

    def get_loop(self):
        return self._loop

    def cancelled(self):
        return self._state == _CANCELLED

    def done(self):
        return self._state != _PENDING

    def cancel(self, msg=None):
        if self._state != _PENDING:
            return False
        self._state, self._message = _CANCELLED, msg
        self._schedule()
        return True

    def _cancelled_error(self):
        return CancelledError() if self._message is None \
            else CancelledError(self._message)

    def result(self):
        if self._state == _CANCELLED:
            raise self._cancelled_error()
        if self._state != _FINISHED:
            raise InvalidStateError("Result is not ready.")
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self):
        if self._state == _CANCELLED:
            raise self._cancelled_error()
        if self._state != _FINISHED:
            raise InvalidStateError("Exception is not set.")
        return self._exception

    def set_result(self, result):
        if self._state != _PENDING:
            raise InvalidStateError(f"{self._state}: {self!r}")
        self._result, self._state = result, _FINISHED
        self._schedule()

    def set_exception(self, exception):
        if self._state != _PENDING:
            raise InvalidStateError(f"{self._state}: {self!r}")
        if isinstance(exception, type):
            exception = exception()
        if isinstance(exception, StopIteration):
            raise TypeError("StopIteration interacts badly with generators "
                            "and cannot be raised into a Future")
        self._exception, self._state = exception, _FINISHED
        self._schedule()

    def _schedule(self):
        callbacks, self._callbacks = self._callbacks, []
        for f in callbacks:
            self._loop.call_soon(f, self)

    def add_done_callback(self, f, *, context=None):
        if self._state != _PENDING:
            self._loop.call_soon(f, self)
        else:
            self._callbacks.append(f)

    def remove_done_callback(self, f):
        kept = [other for other in self._callbacks if other != f]
        removed = len(self._callbacks) - len(kept)
        self._callbacks = kept
        return removed

    def __await__(self):
        if not self.done():
            yield self
        if not self.done():
            raise RuntimeError("await wasn't used with future")
        return self.result()

    __iter__ = __await__


class Task(Future):
    def __init__(self, coro, *, loop=None, name=None, context=None):
        super().__init__(loop=loop)
        if not isinstance(coro, coroutine) and not hasattr(coro, "send"):
            raise TypeError(f"a coroutine was expected, got {coro!r}")
        self._coro = coro
        self._name = f"Task-{next(_task_names)}" if name is None \
            else str(name)
        self._waits_for, self._must_cancel, self._cancels = None, False, 0
        self._context = context or contextvars.copy_context()
        self._loop.call_soon(self._step)
        self._loop._tasks.append(self)

    def __repr__(self):
        facts = super().__repr__()[len(type(self).__name__) + 2:-1].split(
            " ", 1)
        name = getattr(self._coro, "__qualname__", repr(self._coro))
        return " ".join([f"<{type(self).__name__}", facts[0],
                         f"name={self._name!r}", f"coro=<{name}()>",
                         *facts[1:]]) + ">"

    def get_coro(self):
        return self._coro

    def get_name(self):
        return self._name

    def set_name(self, value):
        self._name = str(value)

    def set_result(self, result):
        raise RuntimeError("Task does not support set_result operation")

    def set_exception(self, exception):
        raise RuntimeError("Task does not support set_exception operation")

    def cancel(self, msg=None):
        if self.done():
            return False
        self._cancels += 1
        if self._waits_for is not None and self._waits_for.cancel(msg=msg):
            return True
        self._must_cancel, self._message = True, msg
        return True

    def cancelling(self):
        return self._cancels

    def uncancel(self):
        if self._cancels > 0:
            self._cancels -= 1
        return self._cancels

    def _finish(self, state, result=None, exception=None):
        self._state = state
        self._result, self._exception = result, exception
        if self in self._loop._tasks:
            self._loop._tasks.remove(self)
        self._schedule()

    def _step(self, error=None):
        if self._must_cancel:
            if not isinstance(error, CancelledError):
                error = self._cancelled_error()
            self._must_cancel = False
        self._waits_for = None
        before, self._loop._current = self._loop._current, self
        try:
            if error is None:
                waits = self._context.run(self._coro.send, None)
            else:
                waits = self._context.run(self._coro.throw, error)
        except StopIteration as e:
            if self._must_cancel:
                self._must_cancel = False
                self._finish(_CANCELLED)
            else:
                self._finish(_FINISHED, e.value)
        except CancelledError as e:
            self._message = e.args[0] if e.args else None
            self._finish(_CANCELLED)
        except (KeyboardInterrupt, SystemExit) as e:
            self._finish(_FINISHED, exception=e)
            raise
        except BaseException as e:
            self._finish(_FINISHED, exception=e)
        else:
            self._wait(waits)
        finally:
            self._loop._current = before

    def _wait(self, waits):
        if isinstance(waits, Future):
            if waits is self:
                self._loop.call_soon(self._step, RuntimeError(
                    f"Task cannot await on itself: {self!r}"))
                return
            waits.add_done_callback(self._wake)
            self._waits_for = waits
            if self._must_cancel and waits.cancel(msg=self._message):
                self._must_cancel = False
        elif waits is None:
            self._loop.call_soon(self._step)
        else:
            self._loop.call_soon(self._step, RuntimeError(
                f"Task got bad yield: {waits!r}"))

    def _wake(self, future):
        try:
            future.result()
        except BaseException as e:
            self._step(e)
        else:
            self._step()
