# SPDX-License-Identifier: MIT
"""logging.handlers: files that begin anew when they are full, and records that
wait for others."""
import copy
import os

import _absent
import logging


class BaseRotatingHandler(logging.FileHandler):
    namer = rotator = None

    def emit(self, record):
        try:
            if self.shouldRollover(record):
                self.doRollover()
            logging.FileHandler.emit(self, record)
        except Exception:
            self.handleError(record)

    def rotation_filename(self, default_name):
        return self.namer(default_name) if callable(self.namer) \
            else default_name

    def rotate(self, source, dest):
        if callable(self.rotator):
            self.rotator(source, dest)
        elif os.path.exists(source):
            os.rename(source, dest)


class RotatingFileHandler(BaseRotatingHandler):
    def __init__(self, filename, mode="a", maxBytes=0, backupCount=0,
                 encoding=None, delay=False, errors=None):
        if maxBytes > 0:
            mode = "a"
        super().__init__(filename, mode, encoding, delay, errors)
        self.maxBytes, self.backupCount = maxBytes, backupCount

    def doRollover(self):
        self.close()
        if self.backupCount > 0:
            names = [self.baseFilename] + [
                self.rotation_filename("%s.%d" % (self.baseFilename, i + 1))
                for i in range(self.backupCount)]
            for i in range(self.backupCount - 1, 0, -1):
                if os.path.exists(names[i]):
                    os.rename(names[i], names[i + 1])
            self.rotate(names[0], names[1])
        if not self.delay:
            self.stream = self._open()

    def shouldRollover(self, record):
        if self.maxBytes <= 0:
            return False
        if self.stream is None:
            self.stream = self._open()
        self.flush()
        text = "%s\n" % self.format(record)
        return os.path.getsize(self.baseFilename) + len(
            text) >= self.maxBytes


class TimedRotatingFileHandler(BaseRotatingHandler):
    """A program here does not run so long that its file is changed."""

    def __init__(self, filename, when="h", interval=1, backupCount=0,
                 encoding=None, delay=False, utc=False, atTime=None,
                 errors=None):
        super().__init__(filename, "a", encoding, delay, errors)
        self.when, self.backupCount = when.upper(), backupCount
        self.utc, self.atTime = utc, atTime
        if self.when not in ("S", "M", "H", "D", "MIDNIGHT") \
                and not self.when.startswith("W"):
            raise ValueError("Invalid rollover interval specified: %s"
                             % self.when)

    def shouldRollover(self, record):
        return False

    def doRollover(self):
        raise _absent.error("TimedRotatingFileHandler.doRollover is not part "
                            "of dtrepl")


class WatchedFileHandler(logging.FileHandler):
    pass


class BufferingHandler(logging.Handler):
    def __init__(self, capacity):
        super().__init__()
        self.capacity, self.buffer = capacity, []

    def shouldFlush(self, record):
        return len(self.buffer) >= self.capacity

    def emit(self, record):
        self.buffer.append(record)
        if self.shouldFlush(record):
            self.flush()

    def flush(self):
        self.buffer.clear()

    def close(self):
        self.flush()
        super().close()


class MemoryHandler(BufferingHandler):
    def __init__(self, capacity, flushLevel=logging.ERROR, target=None,
                 flushOnClose=True):
        super().__init__(capacity)
        self.flushLevel, self.target = flushLevel, target
        self.flushOnClose = flushOnClose

    def shouldFlush(self, record):
        return len(self.buffer) >= self.capacity \
            or record.levelno >= self.flushLevel

    def setTarget(self, target):
        self.target = target

    def flush(self):
        if self.target:
            for record in self.buffer:
                self.target.handle(record)
            self.buffer.clear()

    def close(self):
        if self.flushOnClose:
            self.flush()
        self.target = None
        self.buffer.clear()


class QueueHandler(logging.Handler):
    def __init__(self, queue):
        super().__init__()
        self.queue = queue

    def enqueue(self, record):
        self.queue.put_nowait(record)

    def prepare(self, record):
        text = self.format(record)
        record = copy.copy(record)
        record.message = record.msg = text
        record.args = record.exc_info = record.exc_text = None
        record.stack_info = None
        return record

    def emit(self, record):
        try:
            self.enqueue(self.prepare(record))
        except Exception:
            self.handleError(record)


class QueueListener:
    """What waits in the queue is handled when the listener stops."""

    def __init__(self, queue, *handlers, respect_handler_level=False):
        self.queue, self.handlers = queue, handlers
        self.respect_handler_level = respect_handler_level

    def start(self):
        pass

    def prepare(self, record):
        return record

    def handle(self, record):
        record = self.prepare(record)
        for handler in self.handlers:
            if not self.respect_handler_level \
                    or record.levelno >= handler.level:
                handler.handle(record)

    def stop(self):
        while not self.queue.empty():
            self.handle(self.queue.get_nowait())
