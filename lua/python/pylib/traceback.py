# SPDX-License-Identifier: MIT
"""traceback: what an exception came through, as texts.  Where it was raised is
kept from the moment this module is imported (_frames, std/frames.lua); the part
of a line that failed is not known, so no line has ^^^^ below it."""
import sys

import _absent
import _frames

_frames.keep()
_CAUSE = ("\nThe above exception was the direct cause of the following "
          "exception:\n\n")
_CONTEXT = ("\nDuring handling of the above exception, another exception "
            "occurred:\n\n")
_HEAD = "Traceback (most recent call last):\n"


class FrameSummary:
    def __init__(self, filename, lineno, name, *, line=None):
        self.filename, self.lineno, self.name = filename, lineno, name
        self.line = line

    def __iter__(self):
        return iter((self.filename, self.lineno, self.name, self.line))

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return (self.filename, self.lineno, self.name, self.line)[i]

    def __eq__(self, other):
        return tuple(self) == tuple(other)

    def __repr__(self):
        return f"<FrameSummary file {self.filename}, line {self.lineno} " \
               f"in {self.name}>"


class StackSummary(list):
    @classmethod
    def from_list(cls, frames):
        return cls(f if isinstance(f, FrameSummary)
                   else FrameSummary(*f[:3], line=f[3]) for f in frames)

    @classmethod
    def extract(cls, frame_gen, *, limit=None, lookup_lines=True,
                capture_locals=False):
        if not isinstance(frame_gen, _Walk):
            raise _absent.error("StackSummary.extract of frames that walk_tb "
                                "or walk_stack did not give is not part of "
                                "dtrepl")
        return _summary(frame_gen, limit)

    def format(self):
        out, i = [], 0
        while i < len(self):
            same = 1
            while i + same < len(self) and self[i + same] == self[i]:
                same += 1
            f = self[i]
            text = f'  File "{f.filename}", line {f.lineno}, in {f.name}\n'
            if f.line:
                text += f"    {f.line.strip()}\n"
            out.extend([text] * min(same, 3))
            if same > 3:
                rest = same - 3
                out.append(f"  [Previous line repeated {rest} more "
                           f"time{'' if rest == 1 else 's'}]\n")
            i += same
        return out


def _summary(rows, limit=None):
    rows = StackSummary(
        FrameSummary(f, n, name, line=line and line.strip())
        for f, n, name, line in rows)
    if limit is None:
        return rows
    return StackSummary(rows[:limit] if limit >= 0 else rows[limit:])


def extract_tb(tb, limit=None):
    return _summary(_frames.of(tb), limit)


def extract_stack(f=None, limit=None):
    rows = _summary(_frames.stack())
    return rows if limit is None else StackSummary(
        rows[-limit:] if limit >= 0 else rows[:-limit])


def format_list(extracted_list):
    return StackSummary.from_list(extracted_list).format()


def format_tb(tb, limit=None):
    return extract_tb(tb, limit).format()


def walk_tb(tb):
    """Pairs of a frame and its line; StackSummary.extract takes them."""
    return _Walk(_frames.of(tb))


def walk_stack(f):
    return _Walk(reversed(_frames.stack()))


class _Walk(list):
    pass


def clear_frames(tb):
    pass


def format_stack(f=None, limit=None):
    return extract_stack(f, limit).format()


class _Context:
    """How far the parts of a group are shifted, and whether its box is open."""

    def __init__(self):
        self.depth, self.need_close = 0, False

    def indent(self):
        return "  " * self.depth

    def emit(self, text, margin="|"):
        before = self.indent()
        if self.depth:
            before += margin + " "
        texts = [text] if isinstance(text, str) else text
        if before == "":
            return list(texts)
        return ["".join(before + line for line in t.splitlines(True))
                for t in texts]


_MOST_PARTS, _MOST_DEPTH = 15, 10


class TracebackException:
    def __init__(self, exc_type, exc_value, exc_traceback, *, limit=None,
                 lookup_lines=True, capture_locals=False, compact=False,
                 max_group_width=_MOST_PARTS, max_group_depth=_MOST_DEPTH,
                 _seen=None):
        seen = [] if _seen is None else _seen
        seen.append(exc_value)
        self._value, self.exc_type = exc_value, exc_type
        self.max_group_width = max_group_width
        self.max_group_depth = max_group_depth
        self.stack = None if exc_traceback is None \
            else extract_tb(exc_traceback, limit)

        def inner(e):
            if e is None or any(e is x for x in seen):
                return None
            return TracebackException(
                type(e), e, e.__traceback__, limit=limit,
                max_group_width=max_group_width,
                max_group_depth=max_group_depth, _seen=seen)
        self.__suppress_context__ = getattr(exc_value, "__suppress_context__",
                                            False)
        self.__cause__ = inner(getattr(exc_value, "__cause__", None))
        self.__context__ = None
        if self.__cause__ is None and not self.__suppress_context__:
            self.__context__ = inner(getattr(exc_value, "__context__", None))
        self.__notes__ = getattr(exc_value, "__notes__", None)
        self.exceptions = None
        if isinstance(exc_value, BaseExceptionGroup):
            self.exceptions = [TracebackException(
                type(e), e, e.__traceback__, limit=limit,
                max_group_width=max_group_width,
                max_group_depth=max_group_depth, _seen=seen)
                for e in exc_value.exceptions]

    @classmethod
    def from_exception(cls, exc, *args, **kwargs):
        return cls(type(exc), exc, exc.__traceback__, *args, **kwargs)

    def __str__(self):
        return _text(self._value)

    def _place(self):
        """Where a syntax error is, as lines."""
        e, out = self._value, []
        if e.lineno is not None:
            out.append(f'  File "{e.filename or "<string>"}", line '
                       f'{e.lineno}\n')
        elif e.filename is not None:
            out.append(f"  File {e.filename!r}\n")
        if e.text is not None and e.lineno is not None:
            line = e.text.rstrip("\n")
            text = line.lstrip(" \n\f")
            out.append(f"    {text}\n")
            at = (e.offset or 0) - 1 - (len(line) - len(text))
            if e.offset is not None and at >= 0:
                end = e.end_offset if e.end_lineno == e.lineno \
                    and e.end_offset not in (None, 0) else e.offset
                wide = max(1, end - e.offset)
                blank = "".join(c if c.isspace() else " " for c in text[:at])
                out.append(f"    {blank}{'^' * wide}\n")
        return out

    def format_exception_only(self):
        kind = self.exc_type
        if kind is None or self._value is None:
            return ["NoneType: None\n"]
        name = kind.__qualname__
        if kind.__module__ not in ("builtins", "__main__"):
            name = kind.__module__ + "." + name
        out, text = [], str(self)
        if isinstance(self._value, SyntaxError):
            out = self._place()
            text = self._value.msg or "<no detail available>"
        out.append(f"{name}: {text}\n" if text else f"{name}\n")
        notes = self.__notes__
        if isinstance(notes, (list, tuple)):
            for note in notes:
                out.extend(line + "\n" for line in _text(note).split("\n"))
        elif notes is not None:
            out.append(f"{notes!r}\n")
        return out

    def _chain(self, chain):
        out, e = [], self
        while e is not None:
            before, words = e.__cause__, _CAUSE
            if before is None:
                before, words = e.__context__, _CONTEXT
            if not chain or before is None:
                out.append((None, e))
                break
            out.append((words, e))
            e = before
        return reversed(out)

    def format(self, *, chain=True, _context=None):
        context = _context or _Context()
        for words, e in self._chain(chain):
            if words is not None:
                yield from context.emit(words)
            if e.exceptions is None:
                if e.stack is not None:
                    yield from context.emit(_HEAD)
                    yield from context.emit(e.stack.format())
                yield from context.emit(e.format_exception_only())
            elif context.depth > self.max_group_depth:
                yield from context.emit(
                    f"... (max_group_depth is {self.max_group_depth})\n")
            else:
                yield from self._format_group(e, context, chain)

    def _format_group(self, e, context, chain):
        top = context.depth == 0
        context.depth += top
        if e.stack is not None:
            yield from context.emit("Exception Group " + _HEAD,
                                    "+" if top else "|")
            yield from context.emit(e.stack.format())
        yield from context.emit(e.format_exception_only())
        count, most = len(e.exceptions), self.max_group_width
        n = min(count, most + 1)
        context.need_close = False
        for i in range(n):
            if i == n - 1:
                context.need_close = True
            title = str(i + 1) if i < most else "..."
            yield (context.indent() + ("+-" if i == 0 else "  ")
                   + f"+---------------- {title} ----------------\n")
            context.depth += 1
            if i < most:
                yield from e.exceptions[i].format(chain=chain,
                                                  _context=context)
            else:
                rest = count - most
                yield from context.emit(f"and {rest} more exception"
                                        f"{'s' if rest > 1 else ''}\n")
            if i == n - 1 and context.need_close:
                yield context.indent() + "+" + "-" * 36 + "\n"
                context.need_close = False
            context.depth -= 1
        if top:
            context.depth = 0

    def print(self, *, file=None, chain=True):
        _write("".join(self.format(chain=chain)), file)


def _text(e):
    try:
        return str(e)
    except Exception:
        return f"<{'exception' if isinstance(e, BaseException) else 'note'} " \
               "str() failed>"


def _of(exc, value):
    e = exc if value is Ellipsis else value
    return TracebackException(type(e), e, getattr(e, "__traceback__", None))


def format_exception_only(exc, /, value=Ellipsis):
    return _of(exc, value).format_exception_only()


def format_exception(exc, /, value=Ellipsis, tb=Ellipsis, limit=None,
                     chain=True):
    e = exc if value is Ellipsis else value
    if e is None:
        return ["NoneType: None\n"]
    return list(TracebackException(type(e), e, e.__traceback__,
                                   limit=limit).format(chain=chain))


def format_exc(limit=None, chain=True):
    return "".join(format_exception(sys.exc_info()[1], limit=limit,
                                    chain=chain))


def _write(text, file):
    (sys.stderr if file is None else file).write(text)


def print_exception(exc, /, value=Ellipsis, tb=Ellipsis, limit=None, file=None,
                    chain=True):
    _write("".join(format_exception(exc, value, tb, limit, chain)), file)


def print_exc(limit=None, file=None, chain=True):
    _write(format_exc(limit, chain), file)


def print_tb(tb, limit=None, file=None):
    _write("".join(format_tb(tb, limit)), file)


def print_stack(f=None, limit=None, file=None):
    _write("".join(format_stack(f, limit)), file)


def print_list(extracted_list, file=None):
    _write("".join(format_list(extracted_list)), file)
