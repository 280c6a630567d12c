# SPDX-License-Identifier: MIT
"""os.path: what is done with the texts of paths alone."""
import _absent
import os as _os

curdir, pardir, sep, extsep, pathsep, altsep = ".", "..", "/", ".", ":", None


def isabs(s):
    return _os.fspath(s).startswith("/")


def normcase(s):
    return _os.fspath(s)


def normpath(path):
    path = _os.fspath(path)
    if not path:
        return "."
    head = "/" if path.startswith("/") else ""
    if path.startswith("//") and not path.startswith("///"):
        head = "//"
    out = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != ".." or (not head and not out) or (out and out[-1] == ".."):
            out.append(part)
        elif out:
            out.pop()
    return head + "/".join(out) or "."


def commonprefix(m):
    if not m:
        return ""
    m = [_os.fspath(x) if not isinstance(x, (list, tuple)) else x for x in m]
    low, high = min(m), max(m)
    for i, c in enumerate(low):
        if c != high[i]:
            return low[:i]
    return low


def commonpath(paths):
    paths = [_os.fspath(p) for p in paths]
    if not paths:
        raise ValueError("commonpath() arg is an empty sequence")
    if len({p.startswith("/") for p in paths}) > 1:
        raise ValueError("Can't mix absolute and relative paths")
    split = [[part for part in p.split("/") if part and part != "."]
             for p in paths]
    return ("/" if paths[0].startswith("/") else "") + "/".join(
        commonprefix(split))


def relpath(path, start="."):
    if not path:
        raise ValueError("no path specified")
    path, start = _os.path.abspath(path), _os.path.abspath(start)
    here = [p for p in start.split("/") if p not in ("", ".")]
    there = [p for p in path.split("/") if p not in ("", ".")]
    same = len(commonprefix([here, there]))
    if ".." in here[same:]:
        raise _absent.error("os.path.relpath from above the working folder "
                            "is not part of dtrepl")
    return "/".join([".."] * (len(here) - same) + there[same:]) or "."


def splitdrive(p):
    return "", _os.fspath(p)


def lexists(path):
    return _os.path.exists(path)


def realpath(path, *, strict=False):
    """No link of the sandbox leads elsewhere: the path without detours."""
    path = _os.path.abspath(path)
    if strict and not _os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    return normpath(path)


def samefile(f1, f2):
    for f in (f1, f2):
        if not _os.path.exists(f):
            raise FileNotFoundError(2, "No such file or directory",
                                    _os.fspath(f))
    return realpath(f1) == realpath(f2)


def expandvars(path):
    import re

    def value(match):
        name = match.group(1)
        if name.startswith("{"):
            name = name[1:-1]
        return _os.environ.get(name, match.group())
    return re.sub(r"\$(\w+|\{[^}]*\})", value, _os.fspath(path))
