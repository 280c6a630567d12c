# SPDX-License-Identifier: MIT
"""queue: nothing runs beside the program, so what would wait never ends and is
refused by name."""
import heapq
from collections import deque


class Empty(Exception):
    "Raised by get_nowait() of an empty queue."


class Full(Exception):
    "Raised by put_nowait() of a full queue."


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize = maxsize
        self.unfinished_tasks = 0
        self._init(maxsize)

    def _init(self, maxsize):
        self.queue = deque()

    def _qsize(self):
        return len(self.queue)

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.popleft()

    def qsize(self):
        return self._qsize()

    def empty(self):
        return not self._qsize()

    def full(self):
        return 0 < self.maxsize <= self._qsize()

    def put(self, item, block=True, timeout=None):
        if timeout is not None and timeout < 0 and block:
            raise ValueError("'timeout' must be a non-negative number")
        if self.full():
            if not block or timeout is not None:
                raise Full
            raise NotImplementedError("put() of a full queue waits for ever: "
                                      "nothing runs beside the program")
        self._put(item)
        self.unfinished_tasks += 1

    def get(self, block=True, timeout=None):
        if timeout is not None and timeout < 0 and block:
            raise ValueError("'timeout' must be a non-negative number")
        if self.empty():
            if not block or timeout is not None:
                raise Empty
            raise NotImplementedError("get() of an empty queue waits for ever: "
                                      "nothing runs beside the program")
        return self._get()

    def put_nowait(self, item):
        return self.put(item, block=False)

    def get_nowait(self):
        return self.get(block=False)

    def task_done(self):
        if self.unfinished_tasks <= 0:
            raise ValueError("task_done() called too many times")
        self.unfinished_tasks -= 1

    def join(self):
        if self.unfinished_tasks:
            raise NotImplementedError("join() of a queue with unfinished tasks "
                                      "waits for ever: nothing runs beside the "
                                      "program")


class LifoQueue(Queue):
    def _init(self, maxsize):
        self.queue = []

    def _get(self):
        return self.queue.pop()


class PriorityQueue(Queue):
    def _init(self, maxsize):
        self.queue = []

    def _put(self, item):
        heapq.heappush(self.queue, item)

    def _get(self):
        return heapq.heappop(self.queue)


class SimpleQueue(Queue):
    def __init__(self):
        super().__init__()
