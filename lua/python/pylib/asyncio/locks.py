# SPDX-License-Identifier: MIT
"""asyncio.locks: locks, events, conditions, semaphores, barriers."""
import collections

import _async_loop
from asyncio.futures import CancelledError


class _Held:
    async def __aenter__(self):
        await self.acquire()

    async def __aexit__(self, *exc):
        self.release()


def _first_waiting(waiters):
    return next((w for w in waiters if not w.done()), None)


async def _turn(waiters, waiter):
    """Wait at the end of the row, and leave the row in any case."""
    waiters.append(waiter)
    try:
        await waiter
    finally:
        waiters.remove(waiter)


class Lock(_Held):
    def __init__(self):
        self._locked, self._waiters = False, collections.deque()

    def __repr__(self):
        state = "locked" if self._locked else "unlocked"
        if self._waiters:
            state += f", waiters:{len(self._waiters)}"
        return f"<asyncio.locks.Lock object at {id(self):#x} [{state}]>"

    def locked(self):
        return self._locked

    async def acquire(self):
        if not self._locked and all(w.cancelled() for w in self._waiters):
            self._locked = True
            return True
        waiter = _async_loop.running().create_future()
        try:
            await _turn(self._waiters, waiter)
        except CancelledError:
            if not self._locked:
                self._wake()
            raise
        self._locked = True
        return True

    def release(self):
        if not self._locked:
            raise RuntimeError("Lock is not acquired.")
        self._locked = False
        self._wake()

    def _wake(self):
        if self._waiters and not self._waiters[0].done():
            self._waiters[0].set_result(True)


class Event:
    def __init__(self):
        self._waiters, self._value = collections.deque(), False

    def __repr__(self):
        return (f"<asyncio.locks.Event object at {id(self):#x} "
                f"[{'set' if self._value else 'unset'}]>")

    def is_set(self):
        return self._value

    def set(self):
        if not self._value:
            self._value = True
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(True)

    def clear(self):
        self._value = False

    async def wait(self):
        if self._value:
            return True
        waiter = _async_loop.running().create_future()
        await _turn(self._waiters, waiter)
        return True


class Condition(_Held):
    def __init__(self, lock=None):
        self._lock = lock or Lock()
        self.locked, self.acquire = self._lock.locked, self._lock.acquire
        self.release = self._lock.release
        self._waiters = collections.deque()

    async def wait(self):
        if not self.locked():
            raise RuntimeError("cannot wait on un-acquired lock")
        self.release()
        try:
            waiter = _async_loop.running().create_future()
            await _turn(self._waiters, waiter)
            return True
        finally:
            await self.acquire()

    async def wait_for(self, predicate):
        result = predicate()
        while not result:
            await self.wait()
            result = predicate()
        return result

    def notify(self, n=1):
        if not self.locked():
            raise RuntimeError("cannot notify on un-acquired lock")
        for waiter in self._waiters:
            if n <= 0:
                break
            if not waiter.done():
                n -= 1
                waiter.set_result(False)

    def notify_all(self):
        self.notify(len(self._waiters))


class Semaphore(_Held):
    def __init__(self, value=1):
        if value < 0:
            raise ValueError("Semaphore initial value must be >= 0")
        self._value, self._waiters = value, collections.deque()

    def locked(self):
        return self._value == 0 or any(not w.cancelled()
                                       for w in self._waiters)

    async def acquire(self):
        if not self.locked():
            self._value -= 1
            return True
        waiter = _async_loop.running().create_future()
        try:
            await _turn(self._waiters, waiter)
        except CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._value += 1
                self._wake()
            raise
        if self._value > 0:
            self._wake()
        return True

    def release(self):
        self._value += 1
        self._wake()

    def _wake(self):
        waiter = _first_waiting(self._waiters)
        if waiter is not None:
            self._value -= 1
            waiter.set_result(True)


class BoundedSemaphore(Semaphore):
    def __init__(self, value=1):
        self._bound = value
        super().__init__(value)

    def release(self):
        if self._value >= self._bound:
            raise ValueError("BoundedSemaphore released too many times")
        super().release()


class BrokenBarrierError(RuntimeError):
    __module__ = "asyncio.exceptions"


class Barrier:
    def __init__(self, parties):
        if parties < 1:
            raise ValueError("parties must be >= 1")
        self.parties, self.broken, self._waiters = parties, False, []

    @property
    def n_waiting(self):
        return len(self._waiters)

    async def wait(self):
        if self.broken:
            raise BrokenBarrierError("Barrier aborted")
        index = len(self._waiters)
        if index + 1 == self.parties:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                waiter.set_result(None)
            return index
        waiter = _async_loop.running().create_future()
        self._waiters.append(waiter)
        await waiter
        return index

    async def __aenter__(self):
        return await self.wait()

    async def __aexit__(self, *exc):
        pass

    async def abort(self):
        self.broken = True
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.set_exception(BrokenBarrierError("Abort or reset of barrier"))
