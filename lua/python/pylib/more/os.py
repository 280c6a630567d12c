# SPDX-License-Identifier: MIT
"""os: paths' class, and what is easier said in Python of files and folders."""
import _absent
import os as _os

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
extsep, curdir, pardir, pathsep, altsep = ".", ".", "..", ":", None
defpath, devnull, name = "/bin:/usr/bin", "/dev/null", "posix"


class PathLike:
    """Its subclasses give a text by __fspath__; pathlib's paths are some."""

    def __fspath__(self):
        raise NotImplementedError


class stat_result:
    """The facts of a file that are known here: its size and its kind."""

    def __init__(self, size, mode):
        self.st_size = size
        self.st_mode = mode

    def __getattr__(self, name):
        raise _absent.error("os.stat_result.%s is not part of dtrepl"
                            % name)


def stat(path):
    path = _os.fspath(path)
    if _os.path.isdir(path):
        return stat_result(4096, 0o40755)
    return stat_result(_os.path.getsize(path), 0o100644)


def walk(top, topdown=True, onerror=None, followlinks=False):
    top = _os.fspath(top)
    try:
        names = _os.listdir(top)
    except OSError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [n for n in names if _os.path.isdir(_os.path.join(top, n))]
    files = [n for n in names if n not in folders]
    if topdown:
        yield top, folders, files
    for name in folders:
        yield from walk(_os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield top, folders, files


def rename(src, dst):
    """A file gets another name: its bytes are written there."""
    src, dst = _os.fspath(src), _os.fspath(dst)
    if _os.path.isdir(src):
        raise _absent.error("os.rename of a folder is not part of "
                            "dtrepl")
    with open(src, "rb") as old:
        data = old.read()
    if src != dst:
        with open(dst, "wb") as new:
            new.write(data)
        _os.remove(src)


replace = rename


def urandom(size, /):
    """Bytes that no seed of the program's decides."""
    import random
    import time
    _drawn[0] += 1
    return random.Random(time.time_ns() + (_drawn[0] << 80)).randbytes(size)


_drawn = [0]
