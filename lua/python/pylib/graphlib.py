# SPDX-License-Identifier: MIT
"""graphlib: an order in which each node follows those it needs."""


class CycleError(ValueError):
    pass


class _Node:
    __slots__ = ("node", "waits", "after")

    def __init__(self, node):
        self.node, self.waits, self.after = node, 0, []


_OUT, _DONE = -1, -2


class TopologicalSorter:
    def __init__(self, graph=None):
        self._nodes, self._ready, self._out, self._finished = {}, None, 0, 0
        for node, predecessors in (graph or {}).items():
            self.add(node, *predecessors)

    def _of(self, node):
        if node not in self._nodes:
            self._nodes[node] = _Node(node)
        return self._nodes[node]

    def add(self, node, *predecessors):
        if self._ready is not None:
            raise ValueError("Nodes cannot be added after a call to prepare()")
        info = self._of(node)
        info.waits += len(predecessors)
        for p in predecessors:
            self._of(p).after.append(node)

    def prepare(self):
        if self._ready is not None:
            raise ValueError("cannot prepare() more than once")
        self._ready = [i.node for i in self._nodes.values() if i.waits == 0]
        cycle = self._cycle()
        if cycle:
            raise CycleError("nodes are in a cycle", cycle)

    def _cycle(self):
        stack, turns, seen, at = [], [], set(), {}
        for node in self._nodes:
            if node in seen:
                continue
            while True:
                if node in seen:
                    if node in at:
                        return stack[at[node]:] + [node]
                else:
                    seen.add(node)
                    turns.append(iter(self._nodes[node].after))
                    at[node] = len(stack)
                    stack.append(node)
                while stack:
                    try:
                        node = next(turns[-1])
                        break
                    except StopIteration:
                        del at[stack.pop()]
                        turns.pop()
                else:
                    break
        return None

    def get_ready(self):
        if self._ready is None:
            raise ValueError("prepare() must be called first")
        out = tuple(self._ready)
        for node in out:
            self._nodes[node].waits = _OUT
        self._ready.clear()
        self._out += len(out)
        return out

    def is_active(self):
        if self._ready is None:
            raise ValueError("prepare() must be called first")
        return self._finished < self._out or bool(self._ready)

    def __bool__(self):
        return self.is_active()

    def done(self, *nodes):
        if self._ready is None:
            raise ValueError("prepare() must be called first")
        for node in nodes:
            info = self._nodes.get(node)
            if info is None:
                raise ValueError(f"node {node!r} was not added using add()")
            if info.waits >= 0:
                raise ValueError(f"node {node!r} was not passed out (still not"
                                 " ready)")
            if info.waits == _DONE:
                raise ValueError(f"node {node!r} was already marked done")
            info.waits = _DONE
            for after in info.after:
                self._nodes[after].waits -= 1
                if self._nodes[after].waits == 0:
                    self._ready.append(after)
            self._finished += 1

    def static_order(self):
        self.prepare()
        while self.is_active():
            group = self.get_ready()
            yield from group
            self.done(*group)
