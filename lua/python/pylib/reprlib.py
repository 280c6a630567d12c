# SPDX-License-Identifier: MIT
"""reprlib: short texts of long values."""
import builtins
import functools
import itertools


def recursive_repr(fillvalue="..."):
    def decorate(f):
        running = set()

        @functools.wraps(f)
        def wrapper(self):
            if id(self) in running:
                return fillvalue
            running.add(id(self))
            try:
                return f(self)
            finally:
                running.discard(id(self))
        return wrapper
    return decorate


def _possibly_sorted(x):
    try:
        return sorted(x)
    except Exception:
        return list(x)


class Repr:
    def __init__(self):
        self.fillvalue = "..."
        self.maxlevel, self.maxtuple, self.maxlist, self.maxarray = 6, 6, 6, 5
        self.maxdict, self.maxset, self.maxfrozenset, self.maxdeque = 4, 6, 6, 6
        self.maxstring, self.maxlong, self.maxother = 30, 40, 30

    def repr(self, x):
        return self.repr1(x, self.maxlevel)

    def repr1(self, x, level):
        name = type(x).__name__.replace(" ", "_")
        f = getattr(self, "repr_" + name, None)
        return f(x, level) if f else self.repr_instance(x, level)

    def _items(self, x, level, left, right, most, trail=""):
        n = len(x)
        if level <= 0 and n:
            s = self.fillvalue
        else:
            pieces = [self.repr1(e, level - 1)
                      for e in itertools.islice(x, most)]
            if n > most:
                pieces.append(self.fillvalue)
            s = ", ".join(pieces)
            if n == 1 and trail:
                right = trail + right
        return left + s + right

    def repr_tuple(self, x, level):
        return self._items(x, level, "(", ")", self.maxtuple, ",")

    def repr_list(self, x, level):
        return self._items(x, level, "[", "]", self.maxlist)

    def repr_array(self, x, level):
        if not x:
            return "array('%s')" % x.typecode
        return self._items(x, level, "array('%s', [" % x.typecode, "])",
                           self.maxarray)

    def repr_set(self, x, level):
        if not x:
            return "set()"
        return self._items(_possibly_sorted(x), level, "{", "}", self.maxset)

    def repr_frozenset(self, x, level):
        if not x:
            return "frozenset()"
        return self._items(_possibly_sorted(x), level, "frozenset({", "})",
                           self.maxfrozenset)

    def repr_deque(self, x, level):
        return self._items(x, level, "deque([", "])", self.maxdeque)

    def repr_dict(self, x, level):
        if not x:
            return "{}"
        if level <= 0:
            return "{" + self.fillvalue + "}"
        pieces = [f"{self.repr1(k, level - 1)}: {self.repr1(x[k], level - 1)}"
                  for k in itertools.islice(_possibly_sorted(x), self.maxdict)]
        if len(x) > self.maxdict:
            pieces.append(self.fillvalue)
        return "{" + ", ".join(pieces) + "}"

    def _short(self, s, most):
        if len(s) <= most:
            return s
        i = max(0, (most - 3) // 2)
        j = max(0, most - 3 - i)
        return s[:i] + self.fillvalue + s[len(s) - j:]

    def repr_str(self, x, level):
        s = builtins.repr(x[:self.maxstring])
        if len(s) > self.maxstring:
            i = max(0, (self.maxstring - 3) // 2)
            j = max(0, self.maxstring - 3 - i)
            s = builtins.repr(x[:i] + x[len(x) - j:])
            s = s[:i] + self.fillvalue + s[len(s) - j:]
        return s

    def repr_int(self, x, level):
        return self._short(builtins.repr(x), self.maxlong)

    def repr_instance(self, x, level):
        try:
            s = builtins.repr(x)
        except Exception:
            return "<%s instance at %#x>" % (type(x).__name__, id(x))
        return self._short(s, self.maxother)


aRepr = Repr()
repr = aRepr.repr
