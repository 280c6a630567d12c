# SPDX-License-Identifier: MIT
"""asyncio: coroutines on one loop.  What goes out of the program (sockets,
other processes) is refused by name."""
import _absent
import _async_loop
import collections as _collections
import concurrent.futures as _concurrent
import functools as _functools
import inspect as _inspect
from _async_loop import EventLoop as AbstractEventLoop
from _async_loop import Handle, set_loop as set_event_loop
from _async_loop import running as get_running_loop
from asyncio.futures import (CancelledError, Future, InvalidStateError, Task,
                             isfuture)
from asyncio.locks import (Barrier, BoundedSemaphore, BrokenBarrierError,
                           Condition, Event, Lock, Semaphore)
from asyncio.queues import (LifoQueue, PriorityQueue, Queue, QueueEmpty,
                            QueueFull)
from asyncio.scopes import TaskGroup, Timeout, timeout, timeout_at

TimeoutError = TimeoutError
SelectorEventLoop = AbstractEventLoop
FIRST_COMPLETED = _concurrent.FIRST_COMPLETED
FIRST_EXCEPTION = _concurrent.FIRST_EXCEPTION
ALL_COMPLETED = _concurrent.ALL_COMPLETED


def iscoroutine(obj):
    return _inspect.iscoroutine(obj)


def iscoroutinefunction(func):
    return _inspect.iscoroutinefunction(func)


def new_event_loop():
    return AbstractEventLoop()


def get_event_loop():
    return _async_loop.current_or_new()


def ensure_future(obj, *, loop=None):
    if isfuture(obj):
        return obj
    loop = loop or get_event_loop()
    if not iscoroutine(obj):
        if not hasattr(obj, "__await__"):
            raise TypeError("An asyncio.Future, a coroutine or an awaitable is"
                            " required")
        obj = _wrapped(obj)
    return loop.create_task(obj)


async def _wrapped(awaitable):
    return await awaitable


def wrap_future(future, *, loop=None):
    if isfuture(future):
        return future
    loop = loop or get_event_loop()
    out = loop.create_future()

    def done(f):
        if out.cancelled():
            return
        if f.exception() is not None:
            out.set_exception(f.exception())
        else:
            out.set_result(f.result())
    future.add_done_callback(done)
    return out


def create_task(coro, *, name=None, context=None):
    return get_running_loop().create_task(coro, name=name, context=context)


def current_task(loop=None):
    return (loop or get_running_loop())._current


def all_tasks(loop=None):
    return set((loop or get_running_loop())._tasks)


class Runner:
    def __init__(self, *, debug=None, loop_factory=None):
        self._make, self._loop = loop_factory or new_event_loop, None

    def __enter__(self):
        self.get_loop()
        return self

    def __exit__(self, *exc):
        self.close()

    def get_loop(self):
        if self._loop is None:
            self._loop = self._make()
        return self._loop

    def run(self, coro, *, context=None):
        if not iscoroutine(coro):
            raise ValueError("a coroutine was expected, got {!r}".format(coro))
        if _async_loop._running:
            raise RuntimeError("Runner.run() cannot be called from a running "
                               "event loop")
        loop = self.get_loop()
        return loop.run_until_complete(loop.create_task(coro,
                                                        context=context))

    def close(self):
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        tasks = list(loop._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(_all_of(loop, tasks))
        loop.close()


async def _all_of(loop, tasks):
    await gather(*tasks, return_exceptions=True)


def run(main, *, debug=None, loop_factory=None):
    if _async_loop._running:
        raise RuntimeError("asyncio.run() cannot be called from a running "
                           "event loop")
    with Runner(debug=debug, loop_factory=loop_factory) as runner:
        return runner.run(main)


class _Bare:
    def __await__(self):
        yield


async def sleep(delay, result=None):
    if delay <= 0:
        await _Bare()
        return result
    loop = get_running_loop()
    future = loop.create_future()

    def over():
        if not future.done():
            future.set_result(result)
    handle = loop.call_later(delay, over)
    try:
        return await future
    finally:
        handle.cancel()


class _Gathered(Future):
    def __init__(self, children, *, loop):
        super().__init__(loop=loop)
        self._children, self._asked = children, False

    def cancel(self, msg=None):
        if self.done():
            return False
        any_cancelled = False
        for child in self._children:
            any_cancelled = child.cancel(msg=msg) or any_cancelled
        self._asked = self._asked or any_cancelled
        return any_cancelled


def gather(*awaitables, return_exceptions=False):
    if not awaitables:
        out = get_event_loop().create_future()
        out.set_result([])
        return out
    known, children = {}, []
    for one in awaitables:
        if id(one) not in known:
            known[id(one)] = ensure_future(one)
        children.append(known[id(one)])
    different = list(known.values())
    finished = [0]
    outer = _Gathered(different, loop=different[0]._loop)

    def done(future):
        finished[0] += 1
        if outer.done():
            return
        if not return_exceptions:
            if future.cancelled():
                outer.set_exception(future._cancelled_error())
                return
            if future.exception() is not None:
                outer.set_exception(future.exception())
                return
        if finished[0] < len(different):
            return
        if outer._asked:
            outer.set_exception(CancelledError())
            return
        outer.set_result([
            f._cancelled_error() if f.cancelled()
            else f.exception() if f.exception() is not None else f.result()
            for f in children])
    for child in different:
        child.add_done_callback(done)
    return outer


async def wait(fs, *, timeout=None, return_when=ALL_COMPLETED):
    if isfuture(fs) or iscoroutine(fs):
        raise TypeError("expect a list of futures, not "
                        + type(fs).__name__)
    fs = list(dict.fromkeys(fs))
    if not fs:
        raise ValueError("Set of Tasks/Futures is empty.")
    if any(iscoroutine(f) for f in fs):
        raise TypeError("Passing coroutines is forbidden, use tasks "
                        "explicitly.")
    loop = get_running_loop()
    waiter = loop.create_future()

    def over(_=None):
        if waiter.done():
            return
        waiting = [f for f in fs if not f.done()]
        failed = any(f.done() and not f.cancelled()
                     and f.exception() is not None for f in fs)
        if _ is None or not waiting or return_when == FIRST_COMPLETED \
                or return_when == FIRST_EXCEPTION and failed:
            waiter.set_result(None)
    handle = None
    if any(not f.done() for f in fs) and not (
            return_when == FIRST_COMPLETED and any(f.done() for f in fs)):
        if timeout is not None:
            handle = loop.call_later(timeout, over)
        for f in fs:
            f.add_done_callback(over)
        try:
            await waiter
        finally:
            if handle is not None:
                handle.cancel()
            for f in fs:
                f.remove_done_callback(over)
    return ({f for f in fs if f.done()}, {f for f in fs if not f.done()})


async def wait_for(fut, timeout):
    if timeout is None:
        return await fut
    fut = ensure_future(fut)
    if timeout <= 0 and not fut.done():
        fut.cancel()
        try:
            await fut
        except CancelledError:
            pass
        raise TimeoutError()
    loop = get_running_loop()
    waiter = loop.create_future()

    def over(_=None):
        if not waiter.done():
            waiter.set_result(None)
    handle = loop.call_later(timeout, over)
    fut.add_done_callback(over)
    try:
        try:
            await waiter
        except CancelledError:
            if fut.done():
                return fut.result()
            fut.remove_done_callback(over)
            fut.cancel()
            raise
        if fut.done():
            return fut.result()
        fut.remove_done_callback(over)
        fut.cancel()
        try:
            await fut
        except CancelledError:
            raise TimeoutError() from None
        return fut.result()
    finally:
        handle.cancel()


def as_completed(fs, *, timeout=None):
    if isfuture(fs) or iscoroutine(fs):
        raise TypeError("expect an iterable of futures, not "
                        + type(fs).__name__)
    done, left = Queue(), list({ensure_future(f): None for f in fs})
    waiting = list(left)
    handle = None

    def finished(f):
        if f in waiting:
            waiting.remove(f)
            done.put_nowait(f)
            if not waiting and handle is not None:
                handle.cancel()

    def over():
        for f in waiting:
            f.remove_done_callback(finished)
            done.put_nowait(None)
        waiting.clear()
    for f in left:
        f.add_done_callback(finished)
    if left and timeout is not None:
        handle = get_event_loop().call_later(timeout, over)

    async def first():
        f = await done.get()
        if f is None:
            raise TimeoutError()
        return f.result()
    for _ in left:
        yield first()


def shield(arg):
    inner = ensure_future(arg)
    if inner.done():
        return inner
    outer = inner._loop.create_future()

    def inner_done(f):
        if outer.cancelled():
            return
        if f.cancelled():
            outer.cancel()
        elif f.exception() is not None:
            outer.set_exception(f.exception())
        else:
            outer.set_result(f.result())
    inner.add_done_callback(inner_done)
    return outer


async def to_thread(func, /, *args, **kwargs):
    return await get_running_loop().run_in_executor(
        None, _functools.partial(func, *args, **kwargs))


def run_coroutine_threadsafe(coro, loop):
    raise _absent.error("asyncio.run_coroutine_threadsafe is not part of "
                        "dtrepl: nothing runs beside the program")


def __getattr__(name):
    if name in ("open_connection", "start_server", "open_unix_connection",
                "create_subprocess_exec", "create_subprocess_shell",
                "StreamReader", "StreamWriter", "subprocess", "Protocol",
                "get_event_loop_policy", "set_event_loop_policy"):
        raise _absent.error(f"asyncio.{name} is not part of dtrepl")
    raise AttributeError(f"module 'asyncio' has no attribute {name!r}")
