# SPDX-License-Identifier: MIT
"""threading: threads that run by turns (_turns): one runs until it waits for
something, then another does.  What is waited for is a function that says
whether the wait is over."""
import atexit
import sys
import traceback

import _turns

TIMEOUT_MAX = 9223372036.0
ThreadError = RuntimeError


def _seconds(timeout):
    return None if timeout is None or timeout < 0 else timeout


class _Lock:
    """So many may hold it at once."""
    _places = 1

    def __init__(self):
        self._held = 0

    def _is_free(self):
        return self._held < self._places

    def acquire(self, blocking=True, timeout=-1):
        if not blocking and timeout is not None and timeout >= 0:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if not self._is_free():
            if not blocking or not _turns.wait(
                    self._is_free, _seconds(timeout), "a lock that is held"):
                return False
        self._take()
        return True

    def _take(self):
        self._held += 1

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held -= 1

    def locked(self):
        return self._held > 0

    def _is_owned(self):
        return self._held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, kind, value, trace):
        self.release()


class _RLock(_Lock):
    """The thread that holds it may take it again."""
    _owner = None

    def _is_free(self):
        return not self._held or self._owner is current_thread()

    def _take(self):
        self._held += 1
        self._owner = current_thread()

    def release(self):
        if not self._is_owned():
            raise RuntimeError("cannot release un-acquired lock")
        self._held -= 1

    def _is_owned(self):
        return self._held > 0 and self._owner is current_thread()


def Lock():
    return _Lock()


def RLock():
    return _RLock()


class Semaphore(_Lock):
    def __init__(self, value=1):
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        super().__init__()
        self._places = value

    def release(self, n=1):
        if n < 1:
            raise ValueError("n must be one or more")
        self._held -= n


class BoundedSemaphore(Semaphore):
    def release(self, n=1):
        if n > self._held:
            raise ValueError("Semaphore released too many times")
        super().release(n)


class Condition:
    def __init__(self, lock=None):
        self._lock = RLock() if lock is None else lock
        self._waiters = []
        for name in ("acquire", "release", "_is_owned"):
            setattr(self, name, getattr(self._lock, name))

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *details):
        return self._lock.__exit__(*details)

    def wait(self, timeout=None):
        if not self._is_owned():
            raise RuntimeError("cannot wait on un-acquired lock")
        told = []
        self._waiters.append(told)
        times = self._lock._held
        for _ in range(times):
            self._lock.release()
        try:
            return _turns.wait(lambda: bool(told), timeout, "a condition")
        finally:
            self._waiters = [w for w in self._waiters if w is not told]
            for _ in range(times):
                self._lock.acquire()

    def wait_for(self, predicate, timeout=None):
        said = predicate()
        while not said:
            if not self.wait(timeout):
                return predicate()
            said = predicate()
        return said

    def notify(self, n=1):
        if not self._is_owned():
            raise RuntimeError("cannot notify on un-acquired lock")
        chosen, self._waiters = self._waiters[:n], self._waiters[n:]
        for told in chosen:
            told.append(True)

    def notify_all(self):
        self.notify(len(self._waiters))


class Event:
    _flag = False

    def is_set(self):
        return self._flag

    def set(self):
        self._flag = True

    def clear(self):
        self._flag = False

    def wait(self, timeout=None):
        return _turns.wait(self.is_set, timeout, "an event that nobody set")


class BrokenBarrierError(RuntimeError):
    pass


class Barrier:
    def __init__(self, parties, action=None, timeout=None):
        self.parties, self.n_waiting, self.broken = parties, 0, False
        self._action, self._timeout, self._round = action, timeout, 0

    def wait(self, timeout=None):
        if self.broken:
            raise BrokenBarrierError
        place, mine = self.n_waiting, self._round
        self.n_waiting += 1
        if self.n_waiting == self.parties:
            if self._action is not None:
                self._action()
            self.n_waiting = 0
            self._round += 1
        elif not _turns.wait(lambda: self._round != mine or self.broken,
                             self._timeout if timeout is None else timeout,
                             "a barrier"):
            self.broken = True
        if self.broken:
            raise BrokenBarrierError
        return place

    def abort(self):
        self.broken = True

    def reset(self):
        self.n_waiting, self.broken = 0, False


class local:
    """Attributes of each thread by itself."""

    def __new__(cls, /, *args, **kwargs):
        made = super().__new__(cls)
        object.__setattr__(made, "_of_threads", {})
        return made

    def _own(self):
        held = object.__getattribute__(self, "_of_threads")
        return held.setdefault(get_ident(), {})

    def __getattr__(self, name):
        own = self._own()
        if name not in own:
            kind = type(self)
            said = "_thread._local" if kind is local else kind.__name__
            raise AttributeError(f"{said!r} object has no attribute {name!r}")
        return own[name]

    def __setattr__(self, name, value):
        self._own()[name] = value

    def __delattr__(self, name):
        own = self._own()
        if name not in own:
            raise AttributeError(name)
        del own[name]


class Thread:
    _count = 0
    _target = _error = None
    _args, _kwargs = (), {}

    def __init__(self, group=None, target=None, name=None, args=(),
                 kwargs=None, *, daemon=None):
        if group is not None:
            raise AssertionError("group argument must be None for now")
        if name is None:
            Thread._count += 1
            name = f"Thread-{Thread._count}"
            if target is not None and hasattr(target, "__name__"):
                name += f" ({target.__name__})"
        self.name = str(name)
        self.daemon = current_thread().daemon if daemon is None else daemon
        self.ident = self.native_id = None
        self._target, self._args = target, tuple(args)
        self._kwargs = dict(kwargs or {})
        self._state = "initial"

    def __repr__(self):
        daemon = " daemon" if self.daemon else ""
        number = "" if self.ident is None else f" {self.ident}"
        return (f"<{type(self).__name__}({self.name}, "
                f"{self._state}{daemon}{number})>")

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self):
        if self._state != "initial":
            raise RuntimeError("threads can only be started once")
        global _idents
        _idents += 1
        self.ident = self.native_id = _idents
        self._state = "started"
        _alive.append(self)
        _turns.start(self._turn, self.ident)

    def _turn(self):
        try:
            self.run()
        except SystemExit:
            pass
        except BaseException as error:
            excepthook(ExceptHookArgs(error, self))
        self._state = "stopped"
        _alive.remove(self)

    def is_alive(self):
        return self._state == "started"

    def _has_ended(self):
        return not self.is_alive()

    def join(self, timeout=None):
        if self._state == "initial":
            raise RuntimeError("cannot join thread before it is started")
        if self is current_thread():
            raise RuntimeError("cannot join current thread")
        _turns.wait(self._has_ended, _seconds(timeout),
                    f"join() of {self.name}")

    def getName(self):
        return self.name

    def setName(self, name):
        self.name = name

    def isDaemon(self):
        return self.daemon

    def setDaemon(self, daemon):
        self.daemon = daemon


class Timer(Thread):
    """A thread that calls a function when so many seconds are over."""

    def __init__(self, interval, function, args=None, kwargs=None):
        super().__init__(args=args or (), kwargs=kwargs)
        self.interval, self.function = interval, function
        self.finished = Event()

    def cancel(self):
        self.finished.set()

    def run(self):
        if not self.finished.wait(self.interval):
            self.function(*self._args, **self._kwargs)
        self.finished.set()


class ExceptHookArgs:
    def __init__(self, error, thread):
        self.exc_type, self.exc_value = type(error), error
        self.exc_traceback, self.thread = error.__traceback__, thread


def excepthook(args):
    text = "".join(traceback.format_exception(args.exc_value))
    print(f"Exception in thread {args.thread.name}:\n{text}", end="",
          file=sys.stderr)


class _MainThread(Thread):
    def __init__(self):
        self.name, self.daemon, self.ident, self.native_id = (
            "MainThread", False, 1, 1)
        self._state = "started"


_main = _MainThread()
_alive = [_main]
_idents = 1


def current_thread():
    number = _turns.current()
    for thread in _alive:
        if thread.ident == number:
            return thread
    return _main


currentThread = current_thread


def main_thread():
    return _main


def get_ident():
    return current_thread().ident


def get_native_id():
    return get_ident()


def active_count():
    return len(_alive)


def enumerate():
    return list(_alive)


def _end():
    """The program has ended: wait for the threads that are no daemons."""
    for thread in list(_alive):
        if not thread.daemon and thread is not _main:
            thread.join()


atexit.register(_end)
