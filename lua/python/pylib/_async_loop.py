# SPDX-License-Identifier: MIT
"""_async_loop: the loop that runs what is ready.  Seconds are counted, not
waited for: when nothing is ready the clock goes on to the first timer, and what
a program computes takes none, so that timers end in one order on every run."""
import _turns
import collections
import heapq
import itertools
import sys
import time
import traceback

_running = []
_set = [None]


class Handle:
    def __init__(self, loop, f, args, when=None, context=None):
        self._loop, self._f, self._args = loop, f, args
        self._when, self._cancelled, self._context = when, False, context

    def cancel(self):
        self._cancelled = True

    def cancelled(self):
        return self._cancelled

    def when(self):
        return self._when

    def _run(self):
        try:
            if self._context is not None:
                self._context.run(self._f, *self._args)
            else:
                self._f(*self._args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as e:
            self._loop.call_exception_handler({
                "message": f"Exception in callback {self._f!r}",
                "exception": e})


class EventLoop:
    _current = None
    _handler = None

    def __init__(self):
        self._ready = collections.deque()
        self._timers, self._order = [], itertools.count()
        self._closed = self._stopping = False
        self._tasks = []
        self._debug = False

    def time(self):
        return 1000.0 + _turns.clock()

    def call_soon(self, f, *args, context=None):
        if self._closed:
            raise RuntimeError("Event loop is closed")
        handle = Handle(self, f, args, context=context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay, f, *args, context=None):
        return self.call_at(self.time() + delay, f, *args, context=context)

    def call_at(self, when, f, *args, context=None):
        handle = Handle(self, f, args, when, context)
        heapq.heappush(self._timers, (when, next(self._order), handle))
        return handle

    def _run_once(self):
        while self._timers and self._timers[0][2]._cancelled:
            heapq.heappop(self._timers)
        if not self._ready:
            if not self._timers:
                raise RuntimeError("the event loop waits for ever: nothing is "
                                   "left that could go on")
            wait = self._timers[0][0] - self.time()
            if wait > 0:
                time.sleep(wait)
        end = max(self.time(), self._timers[0][0]) if self._timers \
            and not self._ready else self.time()
        while self._timers and self._timers[0][0] <= end:
            self._ready.append(heapq.heappop(self._timers)[2])
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle._cancelled:
                handle._run()

    def run_forever(self):
        if self._closed:
            raise RuntimeError("Event loop is closed")
        if _running:
            raise RuntimeError(
                "This event loop is already running" if _running[-1] is self
                else "Cannot run the event loop while another loop is running")
        _running.append(self)
        try:
            while not self._stopping:
                self._run_once()
        finally:
            self._stopping = False
            _running.pop()

    def run_until_complete(self, future):
        from asyncio import ensure_future
        if self._closed:
            raise RuntimeError("Event loop is closed")
        future = ensure_future(future, loop=self)
        future.add_done_callback(self._stop)
        try:
            self.run_forever()
        finally:
            future.remove_done_callback(self._stop)
        return future.result()

    def _stop(self, future):
        self.stop()

    def stop(self):
        self._stopping = True

    def is_running(self):
        return bool(_running) and _running[-1] is self

    def is_closed(self):
        return self._closed

    def close(self):
        if self.is_running():
            raise RuntimeError("Cannot close a running event loop")
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    def create_future(self):
        from asyncio import Future
        return Future(loop=self)

    def create_task(self, coro, *, name=None, context=None):
        from asyncio import Task
        return Task(coro, loop=self, name=name, context=context)

    def run_in_executor(self, executor, func, *args):
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as e:
            future.set_exception(e)
        return future

    async def shutdown_asyncgens(self):
        pass

    async def shutdown_default_executor(self):
        pass

    def get_debug(self):
        return self._debug

    def set_debug(self, enabled):
        self._debug = enabled

    def set_exception_handler(self, handler):
        self._handler = handler

    def call_exception_handler(self, context):
        if self._handler is not None:
            self._handler(self, context)
            return
        e = context.get("exception")
        sys.stderr.write(context["message"] + "\n")
        if e is not None:
            sys.stderr.write("".join(traceback.format_exception(e)))


def running():
    if not _running:
        raise RuntimeError("no running event loop")
    return _running[-1]


def current_or_new():
    if _running:
        return _running[-1]
    if _set[0] is None:
        _set[0] = EventLoop()
    return _set[0]


def set_loop(loop):
    _set[0] = loop
