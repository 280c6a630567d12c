# SPDX-License-Identifier: MIT
"""traceback: what an exception came through, as texts.  Where it was raised is
kept from the moment this module is imported (_frames, std/frames.lua); the part
of a line that failed is not known, so no line has ^^^^ below it."""
import sys

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


def format_stack(f=None, limit=None):
    return extract_stack(f, limit).format()


def format_exception_only(exc, /, value=Ellipsis):
    e = exc if value is Ellipsis else value
    if e is None:
        return ["NoneType: None\n"]
    kind = type(e)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = kind.__module__ + "." + name
    text = str(e)
    lines = [f"{name}: {text}\n" if text else f"{name}\n"]
    for note in getattr(e, "__notes__", ()):
        lines.extend(line + "\n" for line in str(note).split("\n"))
    return lines


def format_exception(exc, /, value=Ellipsis, tb=Ellipsis, limit=None,
                     chain=True):
    e = exc if value is Ellipsis else value
    if e is None:
        return ["NoneType: None\n"]
    return _format(e, limit, chain, [])


def _format(e, limit, chain, seen):
    out = []
    seen.append(e)
    if chain:
        before, words = e.__cause__, _CAUSE
        if before is None and not e.__suppress_context__:
            before, words = e.__context__, _CONTEXT
        if before is not None and not any(before is x for x in seen):
            out = _format(before, limit, chain, seen) + [words]
    if e.__traceback__ is not None:
        out.append(_HEAD)
        out.extend(format_tb(e.__traceback__, limit))
    return out + format_exception_only(e)


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
