# SPDX-License-Identifier: MIT
"""queue: boxes that hand things from thread to thread (_turns).  A kind of queue
is a box and how one thing goes in and comes out."""
import heapq
from collections import deque

import _turns


class Empty(Exception):
    """Nothing is there, and none is waited for."""


class Full(Exception):
    """No room is there, and none is waited for."""


def _await(ready, block, timeout, otherwise, what):
    """Wait till ready(); raise `otherwise` where that may not, or does not,
    come."""
    if block and timeout is not None and timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")
    if not ready() and not (block and _turns.wait(ready, timeout, what)):
        raise otherwise


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize, self.unfinished_tasks = maxsize, 0
        self._init(maxsize)

    # ---- what a kind of queue says anew ----

    def _init(self, maxsize):
        self.queue = deque()

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.popleft()

    def _qsize(self):
        return len(self.queue)

    # ---- what all have ----

    def qsize(self):
        return self._qsize()

    def empty(self):
        return self._qsize() == 0

    def full(self):
        return self.maxsize > 0 and self._qsize() >= self.maxsize

    def put(self, item, block=True, timeout=None):
        _await(lambda: not self.full(), block, timeout, Full,
               "put() of a full queue")
        self.unfinished_tasks += 1
        self._put(item)

    def get(self, block=True, timeout=None):
        _await(lambda: not self.empty(), block, timeout, Empty,
               "get() of an empty queue")
        return self._get()

    def put_nowait(self, item):
        self.put(item, False)

    def get_nowait(self):
        return self.get(False)

    def task_done(self):
        if not self.unfinished_tasks:
            raise ValueError("task_done() called too many times")
        self.unfinished_tasks -= 1

    def join(self):
        _turns.wait(lambda: not self.unfinished_tasks, None,
                    "join() of a queue with unfinished tasks")


def _kind(name, put, get):
    """A queue whose box is a list: put(box, item), get(box)."""
    def _init(self, maxsize):
        self.queue = []

    return type(name, (Queue,), {
        "_init": _init, "_put": lambda self, item: put(self.queue, item),
        "_get": lambda self: get(self.queue), "__module__": __name__})


LifoQueue = _kind("LifoQueue", list.append, list.pop)
PriorityQueue = _kind("PriorityQueue", heapq.heappush, heapq.heappop)


class SimpleQueue(Queue):
    def __init__(self):
        super().__init__(0)
