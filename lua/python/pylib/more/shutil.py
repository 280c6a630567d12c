# SPDX-License-Identifier: MIT
"""shutil: files and folders copied and moved, below the program's folder."""
import _absent
import collections
import os


class Error(OSError):
    pass


class SameFileError(Error):
    pass


def copyfile(src, dst, *, follow_symlinks=True):
    src, dst = os.fspath(src), os.fspath(dst)
    if src == dst:
        raise SameFileError("%r and %r are the same file" % (src, dst))
    with open(src, "rb") as old:
        data = old.read()
    with open(dst, "wb") as new:
        new.write(data)
    return dst


def copy(src, dst, *, follow_symlinks=True):
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(src))
    return copyfile(src, dst)


copy2 = copy


def copytree(src, dst, symlinks=False, ignore=None, copy_function=copy2,
             ignore_dangling_symlinks=False, dirs_exist_ok=False):
    names = os.listdir(src)
    left_out = set(ignore(src, names)) if ignore is not None else set()
    os.makedirs(dst, exist_ok=dirs_exist_ok)
    for name in names:
        if name in left_out:
            continue
        old, new = os.path.join(src, name), os.path.join(dst, name)
        if os.path.isdir(old):
            copytree(old, new, symlinks, ignore, copy_function,
                     dirs_exist_ok=dirs_exist_ok)
        else:
            copy_function(old, new)
    return dst


def ignore_patterns(*patterns):
    import fnmatch
    return lambda path, names: {n for p in patterns
                                for n in fnmatch.filter(names, p)}


def move(src, dst, copy_function=copy2):
    to = dst
    if os.path.isdir(dst):
        to = os.path.join(dst, os.path.basename(os.fspath(src).rstrip("/")))
        if os.path.exists(to):
            raise Error("Destination path '%s' already exists" % to)
    os.rename(src, to)
    return to


def copyfileobj(fsrc, fdst, length=0):
    fdst.write(fsrc.read())


def _refused(name):
    def refuse(*args, **kwargs):
        raise _absent.error("shutil.%s is not part of dtrepl: nothing "
                            "outside the program is touched" % name)
    refuse.__name__ = name
    return refuse


which = _refused("which")
disk_usage = _refused("disk_usage")
chown = _refused("chown")
make_archive = _refused("make_archive")
unpack_archive = _refused("unpack_archive")


terminal_size = collections.namedtuple("terminal_size", "columns lines")
terminal_size.__module__ = "os"


def get_terminal_size(fallback=(80, 24)):
    """No terminal is asked: what the environment says, else the fallback."""
    def said(name, other):
        try:
            return int(os.environ[name]) or other
        except (KeyError, ValueError):
            return other
    return terminal_size(said("COLUMNS", fallback[0]),
                         said("LINES", fallback[1]))
