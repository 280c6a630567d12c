# SPDX-License-Identifier: MIT
"""warnings: what a program warns of, by its filters.  Those of the engine are
heard where a `with catch_warnings(record=True)` keeps a list; _warnings is
Lua's (std/system.lua)."""
import re
import sys

import _frames
import _warnings

filters = []
_seen = {}                              # what was said, by place
_ACTIONS = ("error", "ignore", "always", "default", "module", "once")
_recorder = None                        # the catch_warnings that keeps a list


class WarningMessage:
    def __init__(self, message, category, filename, lineno, file=None,
                 line=None, source=None):
        self.message, self.category = message, category
        self.filename, self.lineno = filename, lineno
        self.file, self.line, self.source = file, line, source

    def __str__(self):
        return (f"{{message : {self.message!r}, category : "
                f"{self.category.__name__!r}, filename : {self.filename!r}, "
                f"lineno : {self.lineno}, line : {self.line!r}}}")


def formatwarning(message, category, filename, lineno, line=None):
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"


def showwarning(message, category, filename, lineno, file=None, line=None):
    text = formatwarning(message, category, filename, lineno, line)
    (sys.stderr if file is None else file).write(text)


_plain_show = showwarning


def _check_action(action):
    if action not in _ACTIONS:
        raise ValueError(f"invalid action: {action!r}")


def filterwarnings(action, message="", category=Warning, module="", lineno=0,
                   append=False):
    _check_action(action)
    if not isinstance(message, str):
        raise TypeError("message must be a string")
    if not isinstance(category, type) or not issubclass(category, Warning):
        raise TypeError("category must be a Warning subclass")
    _add(append, (action, re.compile(message, re.I) if message else None,
                  category, re.compile(module) if module else None, lineno))


def simplefilter(action, category=Warning, lineno=0, append=False):
    _check_action(action)
    _add(append, (action, None, category, None, lineno))


def _add(append, item):
    if not append:
        if item in filters:
            filters.remove(item)
        filters.insert(0, item)
    elif item not in filters:
        filters.append(item)
    _seen.clear()
    _hear()


def resetwarnings():
    filters[:] = []
    _seen.clear()
    _hear()


def _hear():
    """Tell the engine whether its warnings are repeated."""
    _warnings.repeat(bool(filters) and filters[0][0] == "always")


def warn(message, category=None, stacklevel=1, source=None):
    if isinstance(message, Warning):
        category = message.__class__
    elif category is None:
        category = UserWarning
    if not isinstance(category, type) or not issubclass(category, Warning):
        raise TypeError("category must be a Warning subclass, not '%s'"
                        % type(category).__name__)
    place = _frames.caller(max(stacklevel, 1)) or ("sys", 1, "")
    name = "__main__" if place[0] == getattr(sys.modules.get("__main__"),
                                             "__file__", None) else place[0]
    warn_explicit(message, category, place[0], place[1], name, source=source)


def warn_explicit(message, category, filename, lineno, module=None,
                  registry=None, module_globals=None, source=None):
    if module is None:
        module = filename[:-3] if filename.endswith(".py") else filename
    if isinstance(message, Warning):
        text, category = str(message), message.__class__
    else:
        text, message = message, category(message)
    action = defaultaction
    for what, pattern, kind, where, line in filters:
        if ((pattern is None or pattern.match(text))
                and issubclass(category, kind)
                and (where is None or where.match(module))
                and line in (0, lineno)):
            action = what
            break
    if action == "ignore":
        return
    if action == "error":
        raise message
    if action != "always":
        place = {"once": (), "module": (module,)}.get(action,
                                                      (module, lineno))
        key = (text, category) + place
        if key in _seen:
            return
        _seen[key] = True
    if _recorder is not None:
        _recorder.append(WarningMessage(message, category, filename, lineno,
                                        source=source))
    else:
        showwarning(message, category, filename, lineno)


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None,
                 category=Warning, lineno=0, append=False):
        self._record = record
        self._filter = action and (action, category, lineno, append)
        self._entered = False

    def __enter__(self):
        global _recorder
        if self._entered:
            raise RuntimeError(f"Cannot enter {self!r} twice")
        self._entered = True
        self._filters, self._outer = filters[:], _recorder
        self._show = showwarning
        self._heard = None
        _seen.clear()
        log = None
        if self._record:
            log = _recorder = []
            self._heard = _warnings.hear(
                lambda text: log.append(WarningMessage(
                    UserWarning(text), UserWarning, "sys", 1)))
        if self._filter is not None:
            simplefilter(*self._filter)
        return log

    def __exit__(self, *exc_info):
        global _recorder, showwarning
        if not self._entered:
            raise RuntimeError(f"Cannot exit {self!r} without entering first")
        filters[:] = self._filters
        _recorder, showwarning = self._outer, self._show
        _seen.clear()
        if self._record:
            _warnings.hear(self._heard)
        _hear()


defaultaction = "default"


def _set_defaults():
    filterwarnings("default", category=DeprecationWarning, module="__main__",
                   append=True)
    for category in (DeprecationWarning, PendingDeprecationWarning,
                     ImportWarning, ResourceWarning):
        simplefilter("ignore", category=category, append=True)


_set_defaults()
