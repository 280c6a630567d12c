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

F_OK, X_OK, W_OK, R_OK = 0, 1, 2, 4
EX_OK, EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_SOFTWARE = 0, 64, 65, 66, 70


def fsencode(filename):
    filename = _os.fspath(filename)
    return filename.encode() if isinstance(filename, str) else filename


def fsdecode(filename):
    filename = _os.fspath(filename)
    return filename.decode() if isinstance(filename, bytes) else filename


def access(path, mode, *, dir_fd=None, effective_ids=False,
           follow_symlinks=True):
    if mode == X_OK:
        raise _absent.error("os.access(path, os.X_OK) is not part of dtrepl")
    return _os.path.exists(path)


def removedirs(name):
    name = _os.fspath(name)
    _os.rmdir(name)
    head, tail = _os.path.split(name.rstrip("/"))
    while head and tail:
        try:
            _os.rmdir(head)
        except OSError:
            break
        head, tail = _os.path.split(head)


def renames(old, new):
    head = _os.path.dirname(new)
    if head and not _os.path.exists(head):
        _os.makedirs(head)
    _os.rename(old, new)


class DirEntry:
    """What scandir() gives: a name in a folder."""

    def __init__(self, folder, name):
        self.name, self.path = name, _os.path.join(folder, name)

    def is_dir(self, *, follow_symlinks=True):
        return _os.path.isdir(self.path)

    def is_file(self, *, follow_symlinks=True):
        return _os.path.isfile(self.path)

    def is_symlink(self):
        raise _absent.error("os.DirEntry.is_symlink is not part of dtrepl")

    def stat(self, *, follow_symlinks=True):
        return _os.stat(self.path)

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<DirEntry {self.name!r}>"


class _Entries:
    def __init__(self, path):
        self._left = iter([DirEntry(path, n) for n in _os.listdir(path)])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._left)

    def close(self):
        self._left = iter(())

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def scandir(path="."):
    return _Entries(_os.fspath(path))
