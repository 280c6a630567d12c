# SPDX-License-Identifier: MIT
"""loguru's logger: everything is said, and texts are str.format's."""
import logging

_log = logging.getLogger("loguru")
_log.setLevel(logging.DEBUG)
_log.propagate = False


_handler = logging.StreamHandler()
_handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
_log.addHandler(_handler)


class _Logger:
    def _say(self, level, message, args, kwargs):
        text = str(message)
        if args or kwargs:
            text = text.format(*args, **kwargs)
        _log.log(level, "%s", text)

    def trace(self, message, *args, **kwargs):
        self._say(logging.DEBUG, message, args, kwargs)

    def debug(self, message, *args, **kwargs):
        self._say(logging.DEBUG, message, args, kwargs)

    def info(self, message, *args, **kwargs):
        self._say(logging.INFO, message, args, kwargs)

    def success(self, message, *args, **kwargs):
        self._say(logging.INFO, message, args, kwargs)

    def warning(self, message, *args, **kwargs):
        self._say(logging.WARNING, message, args, kwargs)

    def error(self, message, *args, **kwargs):
        self._say(logging.ERROR, message, args, kwargs)

    def exception(self, message, *args, **kwargs):
        self._say(logging.ERROR, message, args, kwargs)

    def critical(self, message, *args, **kwargs):
        self._say(logging.CRITICAL, message, args, kwargs)

    def bind(self, **kwargs):
        return self

    def opt(self, *args, **kwargs):
        return self

    def add(self, *args, **kwargs):
        return 0

    def remove(self, *args):
        pass


logger = _Logger()
