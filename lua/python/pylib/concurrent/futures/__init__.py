# SPDX-License-Identifier: MIT
"""concurrent.futures: what is submitted runs at once, in the caller: nothing
runs beside the program, and a future is done when it is there."""

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
        self._done = False
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

    def _check_done(self):
        if not self._done:
            raise RuntimeError("this future has no result, and nothing runs "
                               "beside the program that could give it one")

    def result(self, timeout=None):
        self._check_done()
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self, timeout=None):
        self._check_done()
        return self._exception

    def add_done_callback(self, call):
        if self._done:
            call(self)
        else:
            self._callbacks.append(call)

    def done(self):
        return self._done

    def running(self):
        return False

    def cancelled(self):
        return False

    def cancel(self):
        return False


class Executor:
    def __init__(self, max_workers=None, *args, **kwargs):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._open = True

    def submit(self, fn, /, *args, **kwargs):
        if not self._open:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as e:
            future.set_exception(e)
        return future

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        futures = [self.submit(fn, *args) for args in zip(*iterables)]
        return (future.result() for future in futures)

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._open = False

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
    return iter(list(fs))


def wait(fs, timeout=None, return_when=ALL_COMPLETED):
    return set(fs), set()
