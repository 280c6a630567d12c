# SPDX-License-Identifier: MIT
"""concurrent.futures: what is submitted runs by turns (_turns): at once, up to
where it first waits."""
from collections import namedtuple

import _turns

DoneAndNotDoneFutures = namedtuple("DoneAndNotDoneFutures", "done not_done")

FIRST_COMPLETED = "FIRST_COMPLETED"
FIRST_EXCEPTION = "FIRST_EXCEPTION"
ALL_COMPLETED = "ALL_COMPLETED"


class Error(Exception):
    pass


class CancelledError(Error):
    pass


TimeoutError = TimeoutError


class InvalidStateError(Error):
    pass


class Future:
    def __init__(self):
        self._done = self._begun = self._cancelled = False
        self._result = self._exception = None
        self._callbacks = []

    def set_result(self, result):
        self._finish(result, None)

    def set_exception(self, exception):
        self._finish(None, exception)

    def _finish(self, result, exception):
        if self._done:
            raise InvalidStateError(f"FINISHED: {self!r}")
        self._done = True
        self._result, self._exception = result, exception
        for call in self._callbacks:
            call(self)

    def _check_done(self, timeout):
        if not _turns.wait(self.done, timeout, "the result of a future"):
            raise TimeoutError()
        if self._cancelled:
            raise CancelledError()

    def result(self, timeout=None):
        self._check_done(timeout)
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self, timeout=None):
        self._check_done(timeout)
        return self._exception

    def add_done_callback(self, call):
        if self._done:
            call(self)
        else:
            self._callbacks.append(call)

    def done(self):
        return self._done

    def running(self):
        return self._begun and not self._done

    def cancelled(self):
        return self._cancelled

    def cancel(self):
        if not self._begun and not self._done:
            self._cancelled = True
            self._finish(None, None)
        return self._cancelled


class Executor:
    def __init__(self, max_workers=None, *args, **kwargs):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._open, self._workers = True, max_workers or 32
        self._busy, self._waiting = 0, []

    def _work(self):
        """One worker: what waits, until nothing does."""
        while self._waiting:
            future, fn, args, kwargs = self._waiting.pop(0)
            if future.cancelled():
                continue
            future._begun = True
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as e:
                future.set_exception(e)
        self._busy -= 1

    def submit(self, fn, /, *args, **kwargs):
        if not self._open:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        self._waiting.append((future, fn, args, kwargs))
        if self._busy < self._workers:
            self._busy += 1
            _turns.start(self._work, 1)
        return future

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        futures = [self.submit(fn, *args) for args in zip(*iterables)]
        return (future.result() for future in futures)

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._open = False
        if cancel_futures:
            for row in self._waiting:
                row[0].cancel()
        if wait:
            _turns.wait(lambda: not self._busy, None, "shutdown()")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.shutdown()
        return False


class ThreadPoolExecutor(Executor):
    pass


class ProcessPoolExecutor(Executor):
    pass


def as_completed(fs, timeout=None):
    left = list(fs)
    while left:
        if not _turns.wait(lambda: any(f.done() for f in left), timeout,
                           "as_completed()"):
            raise TimeoutError(f"{len(left)} (of {len(fs)}) futures unfinished")
        for future in [f for f in left if f.done()]:
            left.remove(future)
            yield future


def _enough(fs, return_when):
    done = [f for f in fs if f.done()]
    failed = any(f._exception is not None for f in done)
    return (len(done) == len(fs) or done and return_when == FIRST_COMPLETED
            or failed and return_when == FIRST_EXCEPTION)


def wait(fs, timeout=None, return_when=ALL_COMPLETED):
    fs = list(fs)
    _turns.wait(lambda: _enough(fs, return_when), timeout, "wait()")
    done = {f for f in fs if f.done()}
    return DoneAndNotDoneFutures(done, set(fs) - done)
