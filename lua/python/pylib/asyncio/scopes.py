# SPDX-License-Identifier: MIT
"""asyncio.scopes: timeout() and TaskGroup."""
import _async_loop
from asyncio.futures import CancelledError


class Timeout:
    def __init__(self, when):
        self._when, self._handle, self._task = when, None, None
        self._expired = False

    def when(self):
        return self._when

    def expired(self):
        return self._expired

    def reschedule(self, when):
        self._when = when
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if when is not None:
            loop = _async_loop.running()
            self._handle = loop.call_soon(self._over) if when <= loop.time() \
                else loop.call_at(when, self._over)

    def _over(self):
        self._task.cancel()
        self._expired = True

    async def __aenter__(self):
        self._task = _async_loop.running()._current
        if self._task is None:
            raise RuntimeError("Timeout should be used inside a task")
        self._cancelling = self._task.cancelling()
        self.reschedule(self._when)
        return self

    async def __aexit__(self, kind, error, tb):
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._expired and self._task.uncancel() <= self._cancelling \
                and kind is CancelledError:
            raise TimeoutError from error
        return None


def timeout(delay):
    loop = _async_loop.running()
    return Timeout(loop.time() + delay if delay is not None else None)


def timeout_at(when):
    return Timeout(when)


class TaskGroup:
    def __init__(self):
        self._entered = self._exiting = self._aborting = False
        self._tasks, self._errors = set(), []
        self._base_error = self._waiter = self._parent = None
        self._parent_cancelled = False

    def __repr__(self):
        return "<TaskGroup" + (f" tasks={len(self._tasks)}" if self._tasks
                               else "") + ">"

    async def __aenter__(self):
        if self._entered:
            raise RuntimeError(f"TaskGroup {self!r} has been already entered")
        self._entered = True
        self._loop = _async_loop.running()
        self._parent = self._loop._current
        return self

    async def __aexit__(self, kind, error, tb):
        self._exiting = True
        if error is not None and isinstance(error, (SystemExit,
                                                    KeyboardInterrupt)):
            self._base_error = error
        cancelled = error if kind is CancelledError else None
        if self._parent_cancelled and self._parent.uncancel() == 0:
            cancelled = None
        if kind is not None and not self._aborting:
            self._abort()
        while self._tasks:
            if self._waiter is None:
                self._waiter = self._loop.create_future()
            try:
                await self._waiter
            except CancelledError as e:
                if not self._aborting:
                    cancelled = e
                    self._abort()
            self._waiter = None
        if self._base_error is not None:
            raise self._base_error
        if cancelled is not None and not self._errors:
            raise cancelled
        if kind is not None and kind is not CancelledError:
            self._errors.append(error)
        if self._errors:
            raise BaseExceptionGroup("unhandled errors in a TaskGroup",
                                     self._errors) from None
        return None

    def create_task(self, coro, *, name=None, context=None):
        if not self._entered:
            raise RuntimeError(f"TaskGroup {self!r} has not been entered")
        if self._exiting and not self._tasks:
            raise RuntimeError(f"TaskGroup {self!r} is finished")
        if self._aborting:
            raise RuntimeError(f"TaskGroup {self!r} is shutting down")
        task = self._loop.create_task(coro, name=name, context=context)
        task.add_done_callback(self._done)
        self._tasks.add(task)
        return task

    def _abort(self):
        self._aborting = True
        for task in list(self._tasks):
            if not task.done():
                task.cancel()

    def _done(self, task):
        self._tasks.discard(task)
        if self._waiter is not None and not self._tasks \
                and not self._waiter.done():
            self._waiter.set_result(True)
        if task.cancelled() or task.exception() is None:
            return
        self._errors.append(task.exception())
        if not self._aborting and not self._parent_cancelled:
            self._abort()
            self._parent_cancelled = True
            self._parent.cancel()
