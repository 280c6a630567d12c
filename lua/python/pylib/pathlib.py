# SPDX-License-Identifier: MIT
"""pathlib: paths as POSIX writes them, and the files that os shows."""
import os


def _text_of(part):
    if isinstance(part, PurePath):
        return str(part)
    if isinstance(part, str):
        return part
    if hasattr(part, "__fspath__"):
        return part.__fspath__()
    raise TypeError("expected str, bytes or os.PathLike object, not "
                    f"{type(part).__name__}")


def _parse(parts):
    """The root ("" or "/") and the names of joined parts."""
    root, names = "", []
    for part in parts:
        text = _text_of(part)
        if text.startswith("/"):
            root, names = "/", []
        names += [n for n in text.split("/") if n not in ("", ".")]
    return root, names


def _fits(name, pattern):
    """Does a name fit a pattern with *, ? and [...]?"""
    import re
    out, i = "", 0
    while i < len(pattern):
        c = pattern[i]
        end = pattern.find("]", i + 2) if c == "[" else -1
        if c == "*":
            out += ".*"
        elif c == "?":
            out += "."
        elif end > 0:
            inner = pattern[i + 1:end]
            if inner[0] == "!":
                inner = "^" + inner[1:]
            out += "[" + inner + "]"
            i = end
        else:
            out += re.escape(c)
        i += 1
    return re.fullmatch(out, name) is not None


class PurePosixPath(os.PathLike):
    def __init__(self, *parts):
        self._root, self._names = _parse(parts)

    def _same_kind(self, root, names):
        new = type(self)()
        new._root, new._names = root, list(names)
        return new

    # -- as text --

    def __str__(self):
        return self._root + "/".join(self._names) or "."

    def __fspath__(self):
        return str(self)

    def as_posix(self):
        return str(self)

    def as_uri(self):
        from urllib.parse import quote_from_bytes
        if not self.is_absolute():
            raise ValueError("relative path can't be expressed as a file URI")
        return "file://" + quote_from_bytes(bytes(self))

    def __bytes__(self):
        return str(self).encode()

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    # -- comparison --

    def __eq__(self, other):
        if not isinstance(other, PurePath):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def _key(self):
        return [self._root] + self._names

    def __lt__(self, other):
        if not isinstance(other, PurePath):
            return NotImplemented
        return self._key() < other._key()

    def __le__(self, other):
        if not isinstance(other, PurePath):
            return NotImplemented
        return self._key() <= other._key()

    def __gt__(self, other):
        if not isinstance(other, PurePath):
            return NotImplemented
        return self._key() > other._key()

    def __ge__(self, other):
        if not isinstance(other, PurePath):
            return NotImplemented
        return self._key() >= other._key()

    # -- parts --

    @property
    def parts(self):
        return tuple(([self._root] if self._root else []) + self._names)

    @property
    def drive(self):
        return ""

    @property
    def root(self):
        return self._root

    @property
    def anchor(self):
        return self._root

    @property
    def name(self):
        return self._names[-1] if self._names else ""

    @property
    def suffix(self):
        name = self.name
        i = name.rfind(".")
        return name[i:] if 0 < i < len(name) - 1 else ""

    @property
    def suffixes(self):
        name = self.name
        if name.endswith("."):
            return []
        return ["." + s for s in name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        name, suffix = self.name, self.suffix
        return name[:len(name) - len(suffix)] if suffix else name

    @property
    def parent(self):
        if not self._names:
            return self
        return self._same_kind(self._root, self._names[:-1])

    @property
    def parents(self):
        return tuple(self._same_kind(self._root, self._names[:i])
                     for i in range(len(self._names) - 1, -1, -1))

    # -- other paths --

    def joinpath(self, *parts):
        root, names = _parse((self,) + parts)
        return self._same_kind(root, names)

    def __truediv__(self, part):
        if not isinstance(part, (str, PurePath)) \
                and not hasattr(part, "__fspath__"):
            return NotImplemented
        return self.joinpath(part)

    def __rtruediv__(self, part):
        if not isinstance(part, str):
            return NotImplemented
        root, names = _parse((part, self))
        return self._same_kind(root, names)

    def with_name(self, name):
        if not self.name:
            raise ValueError(f"{self!r} has an empty name")
        if not name or "/" in name or name == ".":
            raise ValueError(f"Invalid name {name!r}")
        return self._same_kind(self._root, self._names[:-1] + [name])

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def with_suffix(self, suffix):
        if "/" in suffix or suffix and not suffix.startswith(".") \
                or suffix == ".":
            raise ValueError(f"Invalid suffix {suffix!r}")
        if not self.name:
            raise ValueError(f"{self!r} has an empty name")
        return self.with_name(self.stem + suffix)

    def is_absolute(self):
        return self._root == "/"

    def is_relative_to(self, *other):
        base = self._same_kind(*_parse(other))
        n = len(base._names)
        return self._root == base._root and self._names[:n] == base._names

    def relative_to(self, *other):
        base = self._same_kind(*_parse(other))
        if not self.is_relative_to(base):
            raise ValueError(
                f"{str(self)!r} is not in the subpath of {str(base)!r} OR one "
                "path is relative and the other is absolute.")
        return self._same_kind("", self._names[len(base._names):])

    def match(self, pattern):
        root, names = _parse((pattern,))
        if not names:
            raise ValueError("empty pattern")
        if root and (self._root != root or len(names) != len(self._names)) \
                or len(names) > len(self._names):
            return False
        return all(_fits(a, b) for a, b in
                   zip(self._names[-len(names):], names))


PurePath = PurePosixPath


class PosixPath(PurePosixPath):
    @classmethod
    def cwd(cls):
        return cls(os.getcwd())

    @classmethod
    def home(cls):
        return cls(os.path.expanduser("~"))

    def exists(self):
        return os.path.exists(str(self))

    def is_file(self):
        return os.path.isfile(str(self))

    def is_dir(self):
        return os.path.isdir(str(self))

    def stat(self):
        return os.stat(str(self))

    def is_symlink(self):
        return False

    def absolute(self):
        if self.is_absolute():
            return self
        return self.cwd() / self

    def resolve(self, strict=False):
        if strict and not self.exists():
            raise FileNotFoundError(2, "No such file or directory", str(self))
        return type(self)(os.path.realpath(str(self)))

    def expanduser(self):
        return type(self)(os.path.expanduser(str(self)))

    def mkdir(self, mode=0o777, parents=False, exist_ok=False):
        if self.is_dir():
            if exist_ok:
                return
            raise FileExistsError(17, "File exists", str(self))
        if parents:
            os.makedirs(str(self), exist_ok=exist_ok)
        else:
            os.mkdir(str(self))

    def touch(self, mode=0o666, exist_ok=True):
        if self.exists() and not exist_ok:
            raise FileExistsError(17, "File exists", str(self))
        with self.open("a"):
            pass

    def unlink(self, missing_ok=False):
        if missing_ok and not self.exists():
            return
        os.remove(str(self))

    def rmdir(self):
        os.rmdir(str(self))

    def rename(self, target):
        os.rename(str(self), _text_of(target))
        return type(self)(target)

    replace = rename

    def open(self, mode="r", buffering=-1, encoding=None, errors=None,
             newline=None):
        return open(str(self), mode, buffering, encoding, errors, newline)

    def read_text(self, encoding=None, errors=None):
        with self.open("r", encoding=encoding, errors=errors) as f:
            return f.read()

    def write_text(self, data, encoding=None, errors=None, newline=None):
        if not isinstance(data, str):
            raise TypeError("data must be str, not "
                            f"{type(data).__name__}")
        with self.open("w", encoding=encoding, errors=errors,
                       newline=newline) as f:
            return f.write(data)

    def read_bytes(self):
        with self.open("rb") as f:
            return f.read()

    def write_bytes(self, data):
        with self.open("wb") as f:
            return f.write(data)

    def iterdir(self):
        for name in os.listdir(str(self)):
            yield self / name

    def glob(self, pattern):
        root, names = _parse((pattern,))
        if root:
            raise NotImplementedError("Non-relative patterns are unsupported")
        if not names:
            raise ValueError(f"Unacceptable pattern: {pattern!r}")
        yield from self._glob(names)

    def rglob(self, pattern):
        yield from self.glob("**/" + pattern)

    def _glob(self, names):
        first, rest = names[0], names[1:]
        if not self.is_dir():
            return
        if first == "**":
            if rest:
                yield from self._glob(rest)
            else:
                yield self
            for child in sorted(self.iterdir()):
                if child.is_dir():
                    yield from child._glob(names)
            return
        for child in sorted(self.iterdir()):
            if _fits(child.name, first):
                if rest:
                    yield from child._glob(rest)
                else:
                    yield child


Path = PosixPath
