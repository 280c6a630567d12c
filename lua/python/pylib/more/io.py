# SPDX-License-Identifier: MIT
"""io: the classes above the streams, and texts over bytes."""
import _absent
import io as _io

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
DEFAULT_BUFFER_SIZE = 8192
BlockingIOError = BlockingIOError


class UnsupportedOperation(OSError, ValueError):
    pass


UnsupportedOperation.__module__ = "io"


def _name(cls):
    return cls.__name__.rpartition(".")[2]


class _Kind(type):
    """Streams of the language stand below these classes."""

    def __instancecheck__(cls, v):
        return issubclass(type(v), cls)

    def __subclasscheck__(cls, c):
        return type.__subclasscheck__(cls, c) or any(
            _name(above) in cls._names
            for above in getattr(c, "__mro__", (c,)))   # a stream's has none


_TEXTS = ("StringIO", "TextIOWrapper")
_BYTES = ("BytesIO", "BufferedReader", "BufferedWriter", "BufferedRandom")


class _Lines:
    """A stream as a scope and as an iterator of its lines."""

    def __enter__(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        return self

    def __exit__(self, *exc):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class IOBase(_Lines, metaclass=_Kind):
    _names = _TEXTS + _BYTES
    closed = False

    def close(self):
        if not self.closed:
            self.flush()
            self.closed = True

    def flush(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    def _unsupported(self, name):
        raise UnsupportedOperation(f"{type(self).__name__}.{name}() not "
                                   "supported")

    def seek(self, *args):
        self._unsupported("seek")

    def truncate(self, *args):
        self._unsupported("truncate")

    def tell(self):
        return self.seek(0, 1)

    def fileno(self):
        raise UnsupportedOperation("fileno")

    def isatty(self):
        return False

    def readable(self):
        return False

    def writable(self):
        return False

    def seekable(self):
        return False

    def readlines(self, hint=-1):
        out, size = [], 0
        for line in self:
            out.append(line)
            size += len(line)
            if hint is not None and 0 < hint <= size:
                break
        return out

    def writelines(self, lines):
        for line in lines:
            self.write(line)


class RawIOBase(IOBase):
    _names = ("FileIO",)

    def read(self, size=-1):
        if size is None or size < 0:
            return self.readall()
        room = bytearray(size)
        n = self.readinto(room)
        return None if n is None else bytes(room[:n])

    def readall(self):
        out = bytearray()
        while part := self.read(DEFAULT_BUFFER_SIZE):
            out += part
        return bytes(out)

    def readline(self, size=-1):
        out = bytearray()
        while size is None or size < 0 or len(out) < size:
            part = self.read(1)
            if not part:
                break
            out += part
            if part == b"\n":
                break
        return bytes(out)


class BufferedIOBase(IOBase):
    _names = _BYTES


class TextIOBase(IOBase):
    _names = _TEXTS
    encoding = errors = newlines = None


class _WrapperKind(_Kind):
    def __call__(cls, buffer, encoding=None, errors=None, newline=None,
                 line_buffering=False, write_through=False):
        return _Text(buffer, encoding or "utf-8", errors or "strict", newline,
                     line_buffering or write_through)


class TextIOWrapper(TextIOBase, metaclass=_WrapperKind):
    _names = ("TextIOWrapper", "_Text")


class _Text(TextIOBase):
    """A text over the bytes of another stream."""

    def __init__(self, buffer, encoding, errors, newline, at_once):
        self.buffer, self.encoding, self.errors = buffer, encoding, errors
        self._newline, self._at_once, self._waiting = newline, at_once, []
        self._rest = None

    def readable(self):
        return self.buffer.readable()

    def writable(self):
        return self.buffer.writable()

    def seekable(self):
        return self.buffer.seekable()

    def write(self, text):
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        data = text
        if self._newline in (None, "") or self._newline == "\n":
            pass
        else:
            data = text.replace("\n", self._newline)
        self._waiting.append(data)
        if self._at_once and "\n" in text:
            self.flush()
        return len(text)

    def flush(self):
        super().flush()
        if self._waiting:
            text, self._waiting = "".join(self._waiting), []
            self.buffer.write(text.encode(self.encoding, self.errors))
        self.buffer.flush()

    def close(self):
        if not self.closed:
            super().close()
            self.buffer.close()

    def detach(self):
        self.flush()
        return self.buffer

    def _reader(self):
        if self._rest is None:
            text = self.buffer.read().decode(self.encoding, self.errors)
            self._rest = _io.StringIO(text, newline=self._newline)
        return self._rest

    def read(self, size=-1):
        return self._reader().read(size)

    def readline(self, size=-1):
        return self._reader().readline(size)

    def seek(self, at, whence=0):
        self.flush()
        if at:
            raise _absent.error("TextIOWrapper.seek to another place than 0 "
                                "is not part of dtrepl")
        self._rest = None
        return self.buffer.seek(at, whence)


def text_encoding(encoding, stacklevel=2, /):
    return "locale" if encoding is None else encoding
