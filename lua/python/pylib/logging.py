# SPDX-License-Identifier: MIT
"""Loggers, levels, handlers and formats as programs use them.

What is logged goes to the stream of the handler; a program without a handler
sees warnings and errors as their bare text.
"""
import _frames
import os
import string
import sys
import time
import traceback

CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0

BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"
_BASIC = {"%": ("%(message)s", BASIC_FORMAT),
          "{": ("{message}", "{levelname}:{name}:{message}"),
          "$": ("${message}", "${levelname}:${name}:${message}")}
raiseExceptions = True
_started = time.time()
lastResort = None

_levelToName = {50: "CRITICAL", 40: "ERROR", 30: "WARNING", 20: "INFO",
                10: "DEBUG", 0: "NOTSET"}
_nameToLevel = {"CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARNING": 30,
                "WARN": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}


def getLevelName(level):
    if isinstance(level, str):
        return _nameToLevel.get(level, "Level " + level)
    return _levelToName.get(level, "Level " + str(level))


def getLevelNamesMapping():
    return dict(_nameToLevel)


def addLevelName(level, name):
    _levelToName[level] = name
    _nameToLevel[name] = level


def _check_level(level):
    if isinstance(level, int):
        return level
    if isinstance(level, str):
        if level not in _nameToLevel:
            raise ValueError("Unknown level: %r" % (level,))
        return _nameToLevel[level]
    raise TypeError("Level not an integer or a valid string: %r" % (level,))


class LogRecord:
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info,
                 func=None, sinfo=None, **kwargs):
        self.name = name
        self.levelno = level
        self.levelname = getLevelName(level)
        self.msg = msg
        if args and len(args) == 1 and isinstance(args[0], dict) and args[0]:
            args = args[0]
        self.args = args
        self.exc_info = exc_info
        self.exc_text = None
        self.stack_info = sinfo
        self.created = time.time()
        self.msecs = int(self.created * 1000) % 1000 + 0.0
        self.relativeCreated = (self.created - _started) * 1000
        self.process = os.getpid()
        self.processName = "MainProcess"
        self.thread = 0
        self.threadName = "MainThread"
        self.pathname = pathname
        self.lineno = lineno
        self.funcName = func
        self.filename = pathname.rpartition("/")[2]
        self.module = self.filename.rpartition(".")[0] or self.filename

    def __repr__(self):
        return '<LogRecord: %s, %s, %s, %s, "%s">' % (
            self.name, self.levelno, self.pathname, self.lineno, self.msg)

    def getMessage(self):
        msg = str(self.msg)
        if self.args:
            return msg % self.args
        return msg


class Formatter:
    default_time_format = "%Y-%m-%d %H:%M:%S"
    default_msec_format = "%s,%03d"

    def __init__(self, fmt=None, datefmt=None, style="%", validate=True, *,
                 defaults=None):
        if style not in _BASIC:
            raise ValueError("Style must be one of: %,{,$")
        self._fmt = fmt or _BASIC[style][0]
        self.datefmt = datefmt
        self.style = style
        self._defaults = defaults

    def formatTime(self, record, datefmt=None):
        when = time.localtime(record.created)
        if datefmt:
            return time.strftime(datefmt, when)
        text = time.strftime(self.default_time_format, when)
        if self.default_msec_format:
            text = self.default_msec_format % (text, record.msecs)
        return text

    def formatException(self, info):
        return "".join(traceback.format_exception(*info)).rstrip("\n")

    def usesTime(self):
        return "asctime" in self._fmt

    def formatStack(self, stack_info):
        return stack_info

    def formatMessage(self, record):
        facts = record.__dict__
        if self._defaults:
            facts = {**self._defaults, **facts}
        try:
            if self.style == "{":
                return self._fmt.format(**facts)
            if self.style == "$":
                return string.Template(self._fmt).substitute(facts)
            return self._fmt % facts
        except KeyError as e:
            raise ValueError("Formatting field not found in record: %s" % e)

    def format(self, record):
        record.message = record.getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        text = self.formatMessage(record)
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            text = text.removesuffix("\n") + "\n" + record.exc_text
        if record.stack_info:
            text = text.removesuffix("\n") + "\n" + self.formatStack(
                record.stack_info)
        return text


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        if self.name == "" or self.name == record.name:
            return True
        return record.name.startswith(self.name + ".")


class Filterer:
    def __init__(self):
        self.filters = []

    def addFilter(self, filter):
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter):
        if filter in self.filters:
            self.filters.remove(filter)

    def filter(self, record):
        for f in self.filters:
            keep = f.filter(record) if hasattr(f, "filter") else f(record)
            if not keep:
                return False
        return True


class Handler(Filterer):
    def __init__(self, level=NOTSET):
        super().__init__()
        self.level = _check_level(level)
        self.formatter = None
        self.name = None

    def setLevel(self, level):
        self.level = _check_level(level)

    def __repr__(self):
        return "<%s (%s)>" % (type(self).__name__, getLevelName(self.level))

    def get_name(self):
        return self.name

    def set_name(self, name):
        self.name = name

    def acquire(self):
        pass

    def release(self):
        pass

    def setFormatter(self, formatter):
        self.formatter = formatter

    def format(self, record):
        return (self.formatter or Formatter()).format(record)

    def handle(self, record):
        keep = self.filter(record)
        if keep:
            self.emit(record)
        return keep

    def emit(self, record):
        raise NotImplementedError("emit must be implemented by Handler "
                                  "subclasses")

    def flush(self):
        pass

    def close(self):
        pass

    def createLock(self):
        pass

    def handleError(self, record):
        """Says what went wrong in emit(); the program goes on."""
        if not raiseExceptions or sys.stderr is None:
            return
        sys.stderr.write("--- Logging error ---\n" + traceback.format_exc()
                         + "Call stack:\n"
                         + "".join(traceback.format_stack())
                         + "Message: %r\nArguments: %s\n" % (record.msg,
                                                             record.args))


class StreamHandler(Handler):
    terminator = "\n"

    def __init__(self, stream=None):
        super().__init__()
        self.stream = sys.stderr if stream is None else stream

    def __repr__(self):
        name = getattr(self.stream, "name", "")
        return "<%s %s(%s)>" % (type(self).__name__,
                                str(name) + " " if name else "",
                                getLevelName(self.level))

    def setStream(self, stream):
        old = self.stream
        self.stream = stream
        return old

    def flush(self):
        if self.stream and hasattr(self.stream, "flush"):
            self.stream.flush()

    def emit(self, record):
        try:
            self.stream.write(self.format(record) + self.terminator)
            self.flush()
        except Exception:
            self.handleError(record)


class FileHandler(StreamHandler):
    def __init__(self, filename, mode="a", encoding=None, delay=False,
                 errors=None):
        self.baseFilename = os.path.abspath(filename)
        self.mode, self.encoding, self.errors = mode, encoding, errors
        self.delay = delay
        super().__init__()
        self.stream = None if delay else self._open()

    def _open(self):
        return open(self.baseFilename, self.mode, encoding=self.encoding)

    def emit(self, record):
        if self.stream is None:
            self.stream = self._open()
        super().emit(record)

    def __repr__(self):
        return "<%s %s (%s)>" % (type(self).__name__, self.baseFilename,
                                 getLevelName(self.level))

    def close(self):
        if self.stream is not None:
            self.stream.close()
            self.stream = None


class NullHandler(Handler):
    def emit(self, record):
        pass


class Logger(Filterer):
    def __init__(self, name, level=NOTSET):
        super().__init__()
        self.name = name
        self.level = _check_level(level)
        self.parent = None
        self.propagate = True
        self.handlers = []
        self.disabled = False

    def __repr__(self):
        return "<%s %s (%s)>" % (type(self).__name__, self.name,
                                 getLevelName(self.getEffectiveLevel()))

    def setLevel(self, level):
        self.level = _check_level(level)

    def _line(self, only_passing=False):
        """This logger and those above it, as far as records go up."""
        logger = self
        while logger:
            yield logger
            stops = only_passing and not logger.propagate
            logger = None if stops else logger.parent

    def getEffectiveLevel(self):
        return next((one.level for one in self._line() if one.level), NOTSET)

    def isEnabledFor(self, level):
        if self.disabled or level <= _state["disabled"]:
            return False
        return level >= self.getEffectiveLevel()

    def getChild(self, suffix):
        return getLogger(suffix if self.parent is None
                         else self.name + "." + suffix)

    def addHandler(self, handler):
        if handler not in self.handlers:
            self.handlers.append(handler)

    def removeHandler(self, handler):
        if handler in self.handlers:
            self.handlers.remove(handler)

    def hasHandlers(self):
        return any(one.handlers for one in self._line(True))

    def handle(self, record):
        if not self.disabled and self.filter(record):
            self.callHandlers(record)

    def callHandlers(self, record):
        handlers = [h for one in self._line(True) for h in one.handlers]
        for handler in handlers:
            if record.levelno >= handler.level:
                handler.handle(record)
        if not handlers and record.levelno >= WARNING:
            sys.stderr.write(record.getMessage() + "\n")

    def _log(self, level, msg, args, exc_info=None, extra=None,
             stack_info=False, stacklevel=1):
        if exc_info:
            if isinstance(exc_info, BaseException):
                exc_info = (type(exc_info), exc_info, None)
            elif not isinstance(exc_info, tuple):
                exc_info = sys.exc_info()
        place = _frames.caller(stacklevel) or ("(unknown file)", 0,
                                               "(unknown function)")
        self.handle(self.makeRecord(self.name, level, place[0], place[1], msg,
                                    args, exc_info, place[2], extra))

    def makeRecord(self, name, level, fn, lno, msg, args, exc_info, func=None,
                   extra=None, sinfo=None):
        record = LogRecord(name, level, fn, lno, msg, args, exc_info, func,
                           sinfo)
        for key, value in (extra or {}).items():
            if key in ("message", "asctime") or key in record.__dict__:
                raise KeyError("Attempt to overwrite %r in LogRecord" % key)
            setattr(record, key, value)
        return record

    def log(self, level, msg, *args, **kwargs):
        if self.isEnabledFor(level):
            self._log(level, msg, args, **kwargs)

    def exception(self, msg, *args, exc_info=True, **kwargs):
        self.error(msg, *args, exc_info=exc_info, **kwargs)


def _at(level):
    """The method that logs at that level."""
    def method(self, msg, *args, **kwargs):
        self.log(level, msg, *args, **kwargs)
    return method


def _add_levels(kind, **levels):
    for name, level in levels.items():
        setattr(kind, name, _at(level))


_add_levels(Logger, debug=DEBUG, info=INFO, warning=WARNING, warn=WARNING,
            error=ERROR, critical=CRITICAL, fatal=CRITICAL)


class LoggerAdapter:
    def __init__(self, logger, extra=None):
        self.logger = logger
        self.extra = extra

    def process(self, msg, kwargs):
        kwargs["extra"] = self.extra
        return msg, kwargs

    def log(self, level, msg, *args, **kwargs):
        if self.logger.isEnabledFor(level):
            msg, kwargs = self.process(msg, kwargs)
            self.logger.log(level, msg, *args, **kwargs)


_add_levels(LoggerAdapter, debug=DEBUG, info=INFO, warning=WARNING, error=ERROR,
            critical=CRITICAL)

class RootLogger(Logger):
    def __init__(self, level):
        super().__init__("root", level)


def makeLogRecord(facts):
    record = LogRecord(None, None, "", 0, "", (), None)
    record.__dict__.update(facts)
    return record


root = RootLogger(WARNING)
Logger.root = root
_loggers = {}
_state = {"disabled": NOTSET}


def _parent_of(name):
    while "." in name:
        name = name[:name.rfind(".")]
        if name in _loggers:
            return _loggers[name]
    return root


def getLogger(name=None):
    if not name or name == "root":
        return root
    if not isinstance(name, str):
        raise TypeError("A logger name must be a string")
    if name not in _loggers:
        logger = Logger(name)
        logger.parent = _parent_of(name)
        _loggers[name] = logger
        for other in _loggers.values():
            if other.name.startswith(name + "."):
                other.parent = _parent_of(other.name)
    return _loggers[name]


def basicConfig(**kwargs):
    force = kwargs.pop("force", False)
    handlers = kwargs.pop("handlers", None)
    stream = kwargs.pop("stream", None)
    filename = kwargs.pop("filename", None)
    mode = kwargs.pop("filemode", "a")
    form = kwargs.pop("format", None)
    dates = kwargs.pop("datefmt", None)
    style = kwargs.pop("style", "%")
    level = kwargs.pop("level", None)
    kwargs.pop("encoding", None)
    kwargs.pop("errors", None)
    if force:
        root.handlers = []
    if root.handlers:
        return
    if kwargs:
        raise ValueError("Unrecognised argument(s): %s" % ", ".join(kwargs))
    if handlers is None:
        handlers = [FileHandler(filename, mode) if filename
                    else StreamHandler(stream)]
    if style not in _BASIC:
        raise ValueError("Style must be one of: %s" % ",".join(_BASIC))
    formatter = Formatter(form or _BASIC[style][1], dates, style)
    for handler in handlers:
        if handler.formatter is None:
            handler.setFormatter(formatter)
        root.addHandler(handler)
    if level is not None:
        root.setLevel(level)


def disable(level=CRITICAL):
    _state["disabled"] = level


def log(level, msg, *args, **kwargs):
    if not root.handlers:
        basicConfig()
    root.log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    log(DEBUG, msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    log(INFO, msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    log(WARNING, msg, *args, **kwargs)


def warn(msg, *args, **kwargs):
    log(WARNING, msg, *args, **kwargs)


def error(msg, *args, **kwargs):
    log(ERROR, msg, *args, **kwargs)


def exception(msg, *args, exc_info=True, **kwargs):
    error(msg, *args, exc_info=exc_info, **kwargs)


def critical(msg, *args, **kwargs):
    log(CRITICAL, msg, *args, **kwargs)


def getLoggerClass():
    return Logger


def captureWarnings(capture):
    pass


def shutdown():
    pass
