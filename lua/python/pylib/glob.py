# SPDX-License-Identifier: MIT
"""Names of files by patterns, below the program's folder."""
import fnmatch
import os


def has_magic(s):
    return any(c in s for c in "*?[")


def escape(pathname):
    return "".join("[" + c + "]" if c in "*?[" else c for c in pathname)


def _names(folder, hidden):
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    return [n for n in names if hidden or not n.startswith(".")]


def _below(folder):
    """The folders below one, itself first."""
    yield folder
    for name in _names(folder, False):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            yield from _below(path)


def _found(folder, parts, recursive):
    if not parts:
        yield folder
        return
    first, rest = parts[0], parts[1:]
    if first == "**" and recursive:
        for below in _below(folder):
            if rest:
                yield from _found(below, rest, recursive)
            else:
                if below != folder:
                    yield below
                for name in _names(below, False):
                    path = os.path.join(below, name)
                    if not os.path.isdir(path):
                        yield path
        return
    if not has_magic(first):
        path = os.path.join(folder, first)
        if rest or os.path.exists(path):
            yield from _found(path, rest, recursive)
        return
    for name in fnmatch.filter(_names(folder, first.startswith(".")), first):
        path = os.path.join(folder, name)
        if not rest or os.path.isdir(path):
            yield from _found(path, rest, recursive)


def iglob(pathname, *, root_dir=None, recursive=False):
    root = root_dir or ""
    if pathname.startswith("/"):
        start, parts = "/", pathname[1:].split("/")
    else:
        start, parts = root, pathname.split("/")
    seen = set()
    for path in _found(start, [p for p in parts if p], recursive):
        if root and not pathname.startswith("/"):
            path = path[len(root):].lstrip("/")
        if path not in seen:
            seen.add(path)
            yield path


def glob(pathname, *, root_dir=None, recursive=False):
    return list(iglob(pathname, root_dir=root_dir, recursive=recursive))
