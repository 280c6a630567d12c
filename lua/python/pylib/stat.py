# SPDX-License-Identifier: MIT
"""stat: the kinds of files and who may do what with them."""

ST_MODE, ST_INO, ST_DEV, ST_NLINK, ST_UID, ST_GID = range(6)
ST_SIZE, ST_ATIME, ST_MTIME, ST_CTIME = range(6, 10)
S_IFDIR, S_IFCHR, S_IFBLK, S_IFREG = 0o040000, 0o020000, 0o060000, 0o100000
S_IFIFO, S_IFLNK, S_IFSOCK = 0o010000, 0o120000, 0o140000
S_ISUID, S_ISGID, S_ISVTX = 0o4000, 0o2000, 0o1000
S_IRWXU, S_IRUSR, S_IWUSR, S_IXUSR = 0o700, 0o400, 0o200, 0o100
S_IRWXG, S_IRGRP, S_IWGRP, S_IXGRP = 0o070, 0o040, 0o020, 0o010
S_IRWXO, S_IROTH, S_IWOTH, S_IXOTH = 0o007, 0o004, 0o002, 0o001
S_IREAD, S_IWRITE, S_IEXEC = S_IRUSR, S_IWUSR, S_IXUSR
_KINDS = {"DIR": ("d", S_IFDIR), "CHR": ("c", S_IFCHR), "BLK": ("b", S_IFBLK),
          "REG": ("-", S_IFREG), "FIFO": ("p", S_IFIFO), "LNK": ("l", S_IFLNK),
          "SOCK": ("s", S_IFSOCK)}


def S_IFMT(mode):
    return mode & 0o170000


def S_IMODE(mode):
    return mode & 0o7777


def _is(kind):
    return lambda mode: S_IFMT(mode) == kind


for _name, _row in _KINDS.items():
    globals()["S_IS" + _name] = _is(_row[1])


def filemode(mode):
    kind = next((c for c, k in _KINDS.values() if S_IFMT(mode) == k), "?")
    out = [c if mode & (0o400 >> i) else "-"
           for i, c in enumerate("rwxrwxrwx")]
    for at, bit, c in ((2, S_ISUID, "s"), (5, S_ISGID, "s"), (8, S_ISVTX, "t")):
        if mode & bit:
            out[at] = c if out[at] == "x" else c.upper()
    return kind + "".join(out)
