# SPDX-License-Identifier: MIT
"""_io_classes: what stands below a class of the program that derives from
io.StringIO or io.BytesIO."""
import io


def _method(name):
    def method(self, *args):
        return getattr(self._stream, name)(*args)
    method.__name__ = name
    return method


class _InMemory(io._Lines):
    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        made._stream = cls._kind()
        return made

    for _name in ("read", "readline", "readlines", "write", "writelines",
                  "seek", "tell", "truncate", "getvalue", "flush", "close",
                  "readable", "writable", "seekable", "isatty", "fileno"):
        locals()[_name] = _method(_name)

    @property
    def closed(self):
        return self._stream.closed


class StringIO(_InMemory):
    _kind = io.StringIO
    encoding = errors = newlines = None

    def __init__(self, initial_value="", newline="\n"):
        self._stream = io.StringIO(initial_value, newline)


class BytesIO(_InMemory):
    _kind = io.BytesIO
    for _name in ("read1", "readinto", "getbuffer"):
        locals()[_name] = _method(_name)

    def __init__(self, initial_bytes=b""):
        self._stream = io.BytesIO(initial_bytes)


for _class in (StringIO, BytesIO):
    _class.__module__ = "_io"
