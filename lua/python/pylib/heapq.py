# SPDX-License-Identifier: MIT
"""heapq: lists whose item i is no larger than its items 2i+1 and 2i+2."""


def _rise(heap, start, at):
    item = heap[at]
    while at > start:
        above = (at - 1) >> 1
        if not item < heap[above]:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = item


def _sink(heap, at):
    # Down to a leaf by the smaller child, then up to where the item belongs:
    # an item from the end is mostly a large one.
    end, start, item = len(heap), at, heap[at]
    child = 2 * at + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _rise(heap, start, at)


def heappush(heap, item, /):
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap, /):
    last = heap.pop()
    if not heap:
        return last
    first, heap[0] = heap[0], last
    _sink(heap, 0)
    return first


def heapreplace(heap, item, /):
    first = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return first


def heappushpop(heap, item, /):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _sink(heap, 0)
    return item


def heapify(heap, /):
    for at in reversed(range(len(heap) // 2)):
        _sink(heap, at)


def merge(*iterables, key=None, reverse=False):
    waiting = []
    for source in iterables:
        source = iter(source)
        for item in source:
            waiting.append((item if key is None else key(item), item, source))
            break
    while waiting:
        best = 0
        for i in range(1, len(waiting)):
            if (waiting[best][0] < waiting[i][0] if reverse
                    else waiting[i][0] < waiting[best][0]):
                best = i
        _, item, source = waiting[best]
        yield item
        for item in source:
            waiting[best] = (item if key is None else key(item), item, source)
            break
        else:
            del waiting[best]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:max(n, 0)]


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:max(n, 0)]
