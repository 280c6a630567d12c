# SPDX-License-Identifier: MIT
"""threading: locks and names, for a program that nothing runs beside.

A lock is held or free; to wait for one that is held would wait for ever, which
is raised instead.  Threads and timers are refused by name.
"""
import _absent

TIMEOUT_MAX = 9223372036.0


def _refuse(name):
    raise _absent.error(
        f"threading.{name} is not part of dtrepl: nothing runs beside the "
        "program; call the function itself")


class _Lock:
    def __init__(self):
        self._held = 0

    def _may_enter(self):
        return self._held == 0

    def acquire(self, blocking=True, timeout=-1):
        if self._may_enter():
            self._held += 1
            return True
        if not blocking or timeout >= 0:
            return False
        raise RuntimeError("this lock is held, and nothing runs beside the "
                           "program that could release it")

    def release(self):
        if self._held == 0:
            raise RuntimeError("release unlocked lock")
        self._held -= 1

    def locked(self):
        return self._held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, kind, value, trace):
        self.release()


class _RLock(_Lock):
    def _may_enter(self):
        return True


def Lock():
    return _Lock()


def RLock():
    return _RLock()


class Semaphore(_Lock):
    def __init__(self, value=1):
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        super().__init__()
        self._value = value

    def _may_enter(self):
        return self._held < self._value

    def release(self, n=1):
        self._held -= n


class BoundedSemaphore(Semaphore):
    def release(self, n=1):
        if self._held < n:
            raise ValueError("Semaphore released too many times")
        self._held -= n


class Condition:
    def __init__(self, lock=None):
        self._lock = lock if lock is not None else RLock()
        self.acquire = self._lock.acquire
        self.release = self._lock.release

    def __enter__(self):
        return self._lock.acquire()

    def __exit__(self, kind, value, trace):
        self._lock.release()

    def wait(self, timeout=None):
        if timeout is None:
            raise RuntimeError("nothing runs beside the program that could "
                               "notify this condition")
        return False

    def wait_for(self, predicate, timeout=None):
        result = predicate()
        return result if result else self.wait(timeout)

    def notify(self, n=1):
        pass

    def notify_all(self):
        pass


class Event:
    def __init__(self):
        self._flag = False

    def is_set(self):
        return self._flag

    def set(self):
        self._flag = True

    def clear(self):
        self._flag = False

    def wait(self, timeout=None):
        if not self._flag and timeout is None:
            raise RuntimeError("nothing runs beside the program that could "
                               "set this event")
        return self._flag


class local:
    """Attributes of the one thread there is."""


class _MainThread:
    name = "MainThread"
    daemon = False
    ident = 1
    native_id = 1

    def is_alive(self):
        return True

    def getName(self):
        return self.name


_main = _MainThread()


def current_thread():
    return _main


def main_thread():
    return _main


def get_ident():
    return _main.ident


def get_native_id():
    return _main.native_id


def active_count():
    return 1


def enumerate():
    return [_main]


class Thread:
    def __init__(self, *args, **kwargs):
        _refuse("Thread")


class Timer:
    def __init__(self, *args, **kwargs):
        _refuse("Timer")


class Barrier:
    def __init__(self, *args, **kwargs):
        _refuse("Barrier")
