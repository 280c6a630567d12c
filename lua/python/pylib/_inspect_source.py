# SPDX-License-Identifier: MIT
"""_inspect_source: where functions and classes of the program stand, for
inspect."""
import collections
import sys

import _frames
import inspect

FrameInfo = collections.namedtuple(
    "FrameInfo", "frame filename lineno function code_context index")
FrameInfo.__module__ = "inspect"


def _plain(object):
    object = inspect.unwrap(object) if callable(object) else object
    return getattr(object, "__func__", object)


def isframe(object):
    return type(object).__name__ == "frame"


def istraceback(object):
    return type(object).__name__ == "traceback"


def getfile(object):
    if inspect.ismodule(object):
        if getattr(object, "__file__", None):
            return object.__file__
        raise TypeError(f"{object!r} is a built-in module")
    if inspect.isclass(object):
        module = sys.modules.get(object.__module__)
        if getattr(module, "__file__", None):
            return module.__file__
        if object.__module__ == "__main__":
            raise OSError("source code not available")
        raise TypeError(f"{object!r} is a built-in class")
    object = getattr(object, "__func__", object)
    if isframe(object):
        return object.f_code.co_filename
    code = object if type(object).__name__ == "code" \
        else getattr(object, "__code__", None)
    if code is None:
        raise TypeError(
            "module, class, method, function, traceback, frame, or code object"
            f" was expected, got {type(object).__name__}")
    return code.co_filename


def getsourcefile(object):
    file = getfile(object)
    return file if _frames.text(file) is not None else None


def getmodulename(path):
    name = path.rpartition("/")[2]
    return name[:-3] if name.endswith(".py") else None


def getmodule(object, _filename=None):
    if inspect.ismodule(object):
        return object
    name = getattr(object, "__module__", None)
    return sys.modules.get(name) if name is not None else None


def _indent(line):
    return len(line) - len(line.lstrip())


def _line_ends(lines):
    """By line: does a statement's line end there, outside brackets and texts?"""
    ends, depth, quote = [], 0, None
    for line in lines:
        i, joined = 0, False
        while i < len(line):
            c = line[i]
            if quote:
                if c == "\\":
                    i += 1
                elif line.startswith(quote, i):
                    i += len(quote) - 1
                    quote = None
            elif c == "#":
                break
            elif c in "\"'":
                quote = c * 3 if line.startswith(c * 3, i) else c
                i += len(quote) - 1
            elif c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= 1
            elif c == "\\" and line[i + 1:].strip() == "":
                joined = True
            i += 1
        if quote and len(quote) == 1:
            quote = None
        ends.append(depth <= 0 and not quote and not joined)
    return ends


def getblock(lines):
    """The lines of the def, class or statement at the top of these."""
    ends, head, at = _line_ends(lines), _indent(lines[0]), 0
    last = at
    while True:                         # decorators and the header
        start = at
        while at < len(lines) - 1 and not ends[at]:
            at += 1
        last = at
        at += 1
        if not lines[start].lstrip().startswith("@") or at >= len(lines):
            break
    first = lines[start].split()
    code = lines[last].split("#")[0].rstrip()
    if not first or first[0] not in ("def", "class", "async") \
            or not code.endswith(":"):
        return lines[:last + 1]
    body, began = None, True            # does a statement begin at this line?
    while at < len(lines):
        line = lines[at]
        text = line.strip()
        if began and text and not text.startswith("#"):
            if _indent(line) <= head:
                break
            body = body or _indent(line)
        if text and (not began or not text.startswith("#")):
            last = at
        elif text and body is not None and _indent(line) >= body:
            last = at
        began = ends[at]
        at += 1
    return lines[:last + 1]


def _class_line(lines, qualname):
    """The line of that class: of those around it, by their indents."""
    around, began = [], True
    ends = _line_ends(lines)
    decorated = None
    for at, line in enumerate(lines):
        text = line.strip()
        if began and text and not text.startswith("#"):
            if text.startswith("@"):
                decorated = at if decorated is None else decorated
                began = ends[at]
                continue
            while around and around[-1][0] >= _indent(line):
                around.pop()
            words = text.replace("(", " ").replace(":", " ").split()
            if words[0] == "async":
                words = words[1:]
            if len(words) > 1 and words[0] in ("def", "class"):
                name = ".".join([n for _, n in around] + [words[1]])
                if words[0] == "class" and name == qualname:
                    return at if decorated is None else decorated
                around.append((_indent(line), words[1] + (
                    ".<locals>" if words[0] == "def" else "")))
            decorated = None
        began = ends[at]
    raise OSError("could not find class definition")


def findsource(object):
    text = _frames.text(getfile(object))
    if text is None:
        raise OSError("could not get source code")
    lines = text.splitlines(keepends=True)
    if inspect.ismodule(object):
        return lines, 0
    if inspect.isclass(object):
        return lines, _class_line(lines, object.__qualname__)
    object = getattr(object, "__func__", object)
    code = object if type(object).__name__ == "code" else object.f_code \
        if isframe(object) else object.__code__
    if code.co_firstlineno > len(lines):
        raise OSError("lineno is out of bounds")
    return lines, code.co_firstlineno - 1


def getsourcelines(object):
    object = _plain(object)
    lines, at = findsource(object)
    if inspect.ismodule(object):
        return lines, 0
    return getblock(lines[at:]), at + 1


def getsource(object):
    return "".join(getsourcelines(object)[0])


def getcomments(object):
    lines, at = findsource(object)
    out, at = [], at - 1
    while at >= 0 and lines[at].lstrip().startswith("#"):
        out.insert(0, lines[at].lstrip())
        at -= 1
    return "".join(out) or None


def _frame_info(frame, context):
    file, number = frame.f_code.co_filename, frame.f_lineno
    text = _frames.text(file)
    if text is None or context <= 0:
        return FrameInfo(frame, file, number, frame.f_code.co_name, None, None)
    lines = text.splitlines(keepends=True)
    start = max(0, min(number - 1 - context // 2, len(lines) - context))
    return FrameInfo(frame, file, number, frame.f_code.co_name,
                     lines[start:start + context], number - 1 - start)


def stack(context=1):
    frame, out = sys._getframe(), []
    while frame is not None:
        out.append(_frame_info(frame, context))
        frame = frame.f_back
    return out
