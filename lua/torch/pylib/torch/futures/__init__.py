# SPDX-License-Identifier: MIT
"""torch.futures: a value that may not be there yet.  Here collectives are done
when they return, so that what waits for them need not wait."""


class Future:
    def __init__(self, *, devices=None):
        self._done = False
        self._value = self._error = None
        self._callbacks = []

    def done(self):
        return self._done

    def value(self):
        if not self._done:
            raise RuntimeError("value() called on an incomplete future")
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self):
        if not self._done:
            raise RuntimeError("this future has no value, and nothing runs "
                               "beside the program that could give it one")
        return self.value()

    def _finish(self, value, error):
        if self._done:
            raise RuntimeError("Future can only be marked completed once, but "
                               "it's already completed")
        self._done, self._value, self._error = True, value, error
        for call in self._callbacks:
            call(self)

    def set_result(self, result):
        self._finish(result, None)

    def set_exception(self, result):
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an "
                                 "Exception.")
        self._finish(None, result)

    def add_done_callback(self, callback):
        if self._done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback):
        after = Future()

        def call(future):
            try:
                after.set_result(callback(future))
            except Exception as e:
                after.set_exception(RuntimeError(
                    "Got the following error when running the callback: "
                    f"{type(e).__name__}: {e}"))

        self.add_done_callback(call)
        return after


def collect_all(futures):
    together = Future()

    def check(_):
        if all(f.done() for f in futures) and not together.done():
            together.set_result(list(futures))

    if not futures:
        together.set_result([])
    for future in futures:
        future.add_done_callback(check)
    return together


def wait_all(futures):
    return [future.wait() for future in futures]
