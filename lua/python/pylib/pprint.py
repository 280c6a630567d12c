# SPDX-License-Identifier: MIT
"""pprint: values over several lines where one is too narrow.  A text is a list of
pieces; `at` is the column at which a value begins, `after` how many signs have
to stand behind it on its last line."""
import functools
import re
from collections import Counter, OrderedDict, defaultdict, deque
from types import SimpleNamespace

_BRACKETS = {list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"),
             frozenset: ("frozenset({", "})")}


def _compare(a, b):
    try:
        return -1 if a < b else 1 if b < a else 0
    except TypeError:
        a, b = (str(type(a)), id(a)), (str(type(b)), id(b))
        return -1 if a < b else 1 if b < a else 0


_by_order = functools.cmp_to_key(_compare)


def _ordered(values):
    return sorted(values, key=_by_order)


def _is_plain(kind, *bases):
    """Is it one of these types of data, or below one, shown as that is?"""
    for base in bases:
        if kind is base:
            return True
        if issubclass(kind, base) and not hasattr(kind, "_fields"):
            below = [c for c in kind.__mro__ if c not in base.__mro__]
            return not any("__repr__" in vars(c) for c in below)
    return False


def _is_names(value):
    return type(value).__name__ in ("SimpleNamespace", "namespace")


def _recursion(value):
    return f"<Recursion on {type(value).__name__} with id={id(value)}>"


class PrettyPrinter:
    def __init__(self, indent=1, width=80, depth=None, stream=None, *,
                 compact=False, sort_dicts=True, underscore_numbers=False):
        if indent < 0:
            raise ValueError("indent must be >= 0")
        if depth is not None and depth <= 0:
            raise ValueError("depth must be > 0")
        if not width:
            raise ValueError("width must be != 0")
        self._step, self._width, self._depth = int(indent), int(width), depth
        self._stream, self._compact = stream, bool(compact)
        self._sorts, self._underscores = sort_dicts, underscore_numbers

    def pprint(self, object):
        print(self.pformat(object), file=self._stream)

    def pformat(self, object):
        out = []
        self._put(object, out, 0, 0, [], 0)
        return "".join(out)

    def isreadable(self, object):
        text = self._line(object, [], 0)
        return "<" not in text and "..." not in text

    def isrecursive(self, object):
        return "<Recursion on " in self._line(object, [], 0)

    def format(self, object, context, maxlevels, level):
        return self._line(object, list(context), level), True, False

    # ---- in one line ----

    def _line(self, v, above, level):
        kind = type(v)
        is_dict = _is_plain(kind, dict)
        is_box = _is_plain(kind, list, tuple)
        if kind is int and self._underscores:
            return f"{v:_d}"
        if not (is_dict or is_box):
            return repr(v)
        left, right = ("{", "}") if is_dict else (
            ("[", "]") if issubclass(kind, list) else ("(", ")"))
        if not v:
            return left + right
        if self._depth and level >= self._depth:
            return left + "..." + right
        if any(x is v for x in above):
            return _recursion(v)
        above = above + [v]
        if is_dict:
            parts = [f"{self._line(k, above, level + 1)}: "
                     f"{self._line(x, above, level + 1)}"
                     for k, x in self._pairs(v)]
        else:
            parts = [self._line(x, above, level + 1) for x in v]
            if left == "(" and len(parts) == 1:
                right = ",)"
        return left + ", ".join(parts) + right

    def _pairs(self, d):
        if not self._sorts:
            return list(d.items())
        return sorted(d.items(), key=lambda pair: _by_order(pair[0]))

    # ---- in several ----

    def _put(self, v, out, at, after, above, level):
        if any(x is v for x in above):
            out.append(_recursion(v))
            return
        text = self._line(v, above, level)
        put = None
        if len(text) > self._width - at - after:
            put = self._writer(v)
        if put is None:
            out.append(text)
        else:
            put(v, out, at, after, above + [v], level + 1)

    def _writer(self, v):
        """The method that writes such a value over several lines, or None."""
        kind = type(v)
        if kind in _BRACKETS or kind is dict or kind is str:
            return {dict: self._dict, str: self._str}.get(kind, self._box)
        for base, f in ((defaultdict, self._default), (Counter, self._counter),
                        (OrderedDict, self._pairs_of), (deque, self._deque),
                        (SimpleNamespace, self._names)):
            if kind is base or base is SimpleNamespace and _is_names(v):
                return f
        if hasattr(kind, "__dataclass_fields__"):
            return self._dataclass
        for base, f in ((dict, self._dict), (list, self._box),
                        (tuple, self._box), (str, self._str)):
            if _is_plain(kind, base):
                return f
        return None

    def _pad(self, out):
        if self._step > 1:
            out.append(" " * (self._step - 1))

    def _dict(self, v, out, at, after, above, level):
        out.append("{")
        self._pad(out)
        if v:
            self._entries(self._pairs(v), out, at, after + 1, above, level)
        out.append("}")

    def _entries(self, pairs, out, at, after, above, level):
        at += self._step
        for i, (key, x) in enumerate(pairs):
            if i:
                out.append(",\n" + " " * at)
            text = self._line(key, above, level)
            out.append(text + ": ")
            self._put(x, out, at + len(text) + 2,
                      after if i == len(pairs) - 1 else 1, above, level)

    def _box(self, v, out, at, after, above, level):
        left, right = next(b for kind, b in _BRACKETS.items()
                           if isinstance(v, kind))
        if isinstance(v, (set, frozenset)):
            if not v:
                out.append(repr(v))
                return
            if left != "{":
                at += len("frozenset") + 1
            v = _ordered(v)
        elif left == "(" and len(v) == 1:
            right = ",)"
        out.append(left)
        self._items(list(v), out, at, after + len(right), above, level)
        out.append(right)

    def _items(self, items, out, at, after, above, level):
        at += self._step
        self._pad(out)
        line, between = ",\n" + " " * at, ""
        room = most = self._width - at + 1
        for i, x in enumerate(items):
            last = i == len(items) - 1
            if last:
                room, most = room - after, most - after
            if self._compact:
                text = self._line(x, above, level)
                needs = len(text) + 2
                if room < needs:
                    room = most
                    between = between and line
                if room >= needs:
                    room -= needs
                    out += [between, text]
                    between = ", "
                    continue
            out.append(between)
            between = line
            self._put(x, out, at, after if last else 1, above, level)

    def _str(self, v, out, at, after, above, level):
        if not v:
            out.append(repr(v))
            return
        top = level == 1
        if top:
            at, after = at + 1, after + 1
        most, chunks, lines = self._width - at, [], v.splitlines(True)
        for i, line in enumerate(lines):
            last = i == len(lines) - 1
            if len(repr(line)) <= most - (after if last else 0):
                chunks.append(repr(line))
                continue
            now, words = "", re.findall(r"\S+\s*|\s+", line)
            for j, word in enumerate(words):
                room = most - (after if last and j == len(words) - 1 else 0)
                if len(repr(now + word)) <= room:
                    now += word
                    continue
                if now:
                    chunks.append(repr(now))
                now = word
            if now:
                chunks.append(repr(now))
        if len(chunks) == 1:
            out.append(chunks[0])
            return
        text = ("\n" + " " * at).join(chunks)
        out.append(f"({text})" if top else text)

    def _default(self, v, out, at, after, above, level):
        name = type(v).__name__
        at += len(name) + 1
        out.append(f"{name}({v.default_factory!r},\n{' ' * at}")
        self._dict(v, out, at, after + 1, above, level)
        out.append(")")

    def _counter(self, v, out, at, after, above, level):
        name = type(v).__name__
        out.append(name + "({")
        self._pad(out)
        self._entries(v.most_common(), out, at + len(name) + 1, after + 2,
                      above, level)
        out.append("})")

    def _pairs_of(self, v, out, at, after, above, level):
        name = type(v).__name__
        out.append(name + "(")
        self._put(list(v.items()), out, at + len(name) + 1, after + 1, above,
                  level)
        out.append(")")

    def _deque(self, v, out, at, after, above, level):
        name = type(v).__name__
        at += len(name) + 1
        out.append(name + "([")
        limited = v.maxlen is not None
        self._items(list(v), out, at, 2 if limited else after + 2, above,
                    level)
        out.append(f"],\n{' ' * at}maxlen={v.maxlen})" if limited else "])")

    def _fields(self, name, fields, out, at, after, above, level):
        at += len(name) + 1
        out.append(name + "(")
        for i, (key, x) in enumerate(fields):
            if i:
                out.append(",\n" + " " * at)
            out.append(key + "=")
            self._put(x, out, at + len(key) + 1,
                      after if i == len(fields) - 1 else 1, above, level)
        out.append(")")

    def _names(self, v, *where):
        self._fields("namespace", list(vars(v).items()), *where)

    def _dataclass(self, v, *where):
        fields = type(v).__dataclass_fields__.values()
        self._fields(type(v).__name__,
                     [(f.name, getattr(v, f.name)) for f in fields if f.repr],
                     *where)


def pformat(object, indent=1, width=80, depth=None, **other):
    return PrettyPrinter(indent, width, depth, **other).pformat(object)


def pprint(object, stream=None, indent=1, width=80, depth=None, **other):
    PrettyPrinter(indent, width, depth, stream, **other).pprint(object)


def pp(object, *args, sort_dicts=False, **kwargs):
    pprint(object, *args, sort_dicts=sort_dicts, **kwargs)


def saferepr(object):
    return PrettyPrinter()._line(object, [], 0)


def isreadable(object):
    return PrettyPrinter().isreadable(object)


def isrecursive(object):
    return PrettyPrinter().isrecursive(object)
