# SPDX-License-Identifier: MIT
"""sched: calls at times, the earliest first."""
import heapq
import itertools
import time as _clock
from collections import namedtuple

_Fields = namedtuple("Event", "time, priority, sequence, action, argument, "
                     "kwargs")


class Event(_Fields):
    __slots__ = ()


class scheduler:
    def __init__(self, timefunc=_clock.monotonic, delayfunc=_clock.sleep):
        self._queue, self._count = [], itertools.count()
        self.timefunc, self.delayfunc = timefunc, delayfunc

    def enterabs(self, time, priority, action, argument=(), kwargs=None):
        event = Event(time, priority, next(self._count), action, argument,
                      {} if kwargs is None else kwargs)
        heapq.heappush(self._queue, event)
        return event

    def enter(self, delay, priority, action, argument=(), kwargs=None):
        return self.enterabs(self.timefunc() + delay, priority, action,
                             argument, kwargs)

    def cancel(self, event):
        self._queue.remove(event)
        heapq.heapify(self._queue)

    def empty(self):
        return not self._queue

    def run(self, blocking=True):
        while self._queue:
            event = self._queue[0]
            wait = event.time - self.timefunc()
            if wait > 0:
                if not blocking:
                    return wait
                self.delayfunc(wait)
                continue
            heapq.heappop(self._queue)
            event.action(*event.argument, **event.kwargs)
            self.delayfunc(0)
        return None

    @property
    def queue(self):
        return sorted(self._queue)
