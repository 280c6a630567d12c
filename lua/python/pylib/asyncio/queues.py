# SPDX-License-Identifier: MIT
"""asyncio.queues: queues that coroutines wait at."""
import collections
import heapq

import _async_loop
from asyncio.locks import Event


class QueueEmpty(Exception):
    pass


class QueueFull(Exception):
    pass


class Queue:
    def __init__(self, maxsize=0):
        self._maxsize, self._unfinished = maxsize, 0
        self._getters = collections.deque()
        self._putters = collections.deque()
        self._finished = Event()
        self._finished.set()
        self._init(maxsize)

    def _init(self, maxsize):
        self._queue = collections.deque()

    def _get(self):
        return self._queue.popleft()

    def _put(self, item):
        self._queue.append(item)

    maxsize = property(lambda self: self._maxsize)

    def qsize(self):
        return len(self._queue)

    def empty(self):
        return not self._queue

    def full(self):
        return 0 < self._maxsize <= self.qsize()

    def _wake(self, waiters):
        while waiters:
            waiter = waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                break

    async def _wait(self, waiters, over):
        waiter = _async_loop.running().create_future()
        waiters.append(waiter)
        try:
            await waiter
        except BaseException:
            waiter.cancel()
            if waiter in waiters:
                waiters.remove(waiter)
            if over() and not waiter.cancelled():
                self._wake(waiters)
            raise

    async def put(self, item):
        while self.full():
            await self._wait(self._putters, lambda: not self.full())
        return self.put_nowait(item)

    def put_nowait(self, item):
        if self.full():
            raise QueueFull
        self._put(item)
        self._unfinished += 1
        self._finished.clear()
        self._wake(self._getters)

    async def get(self):
        while self.empty():
            await self._wait(self._getters, lambda: not self.empty())
        return self.get_nowait()

    def get_nowait(self):
        if self.empty():
            raise QueueEmpty
        item = self._get()
        self._wake(self._putters)
        return item

    def task_done(self):
        if self._unfinished <= 0:
            raise ValueError("task_done() called too many times")
        self._unfinished -= 1
        if self._unfinished == 0:
            self._finished.set()

    async def join(self):
        if self._unfinished > 0:
            await self._finished.wait()


class PriorityQueue(Queue):
    def _init(self, maxsize):
        self._queue = []

    def _put(self, item):
        heapq.heappush(self._queue, item)

    def _get(self):
        return heapq.heappop(self._queue)


class LifoQueue(Queue):
    def _init(self, maxsize):
        self._queue = []

    def _get(self):
        return self._queue.pop()
