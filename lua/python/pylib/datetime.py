# SPDX-License-Identifier: MIT
"""Dates without time zones and spans of time, as programs use them for names
of folders and for timeouts."""
import time as _clock

MINYEAR = 1
MAXYEAR = 9999


class timedelta:
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0,
                 minutes=0, hours=0, weeks=0):
        whole = ((days + weeks * 7) * 86400 + hours * 3600 + minutes * 60
                 + seconds) * 1000000 + milliseconds * 1000 + microseconds
        whole = round(whole)
        self.days = whole // 86400000000
        rest = whole % 86400000000
        self.seconds = rest // 1000000
        self.microseconds = rest % 1000000

    def _whole(self):
        return ((self.days * 86400 + self.seconds) * 1000000
                + self.microseconds)

    def total_seconds(self):
        return self._whole() / 1000000

    def __repr__(self):
        parts = [name + "=" + str(getattr(self, name))
                 for name in ("days", "seconds", "microseconds")
                 if getattr(self, name)]
        return "datetime.timedelta(" + (", ".join(parts) or "0") + ")"

    def __str__(self):
        text = "%d:%02d:%02d" % (self.seconds // 3600,
                                 self.seconds // 60 % 60, self.seconds % 60)
        if self.days:
            text = "%d day%s, %s" % (self.days, "" if abs(self.days) == 1
                                     else "s", text)
        if self.microseconds:
            text = text + ".%06d" % self.microseconds
        return text

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return timedelta(microseconds=self._whole() + other._whole())

    def __sub__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return timedelta(microseconds=self._whole() - other._whole())

    def __mul__(self, n):
        return timedelta(microseconds=self._whole() * n)

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._whole() / other._whole()
        return timedelta(microseconds=self._whole() / other)

    def __neg__(self):
        return timedelta(microseconds=-self._whole())

    def __eq__(self, other):
        return isinstance(other, timedelta) and self._whole() == other._whole()

    def __hash__(self):
        return hash(self._whole())

    def __lt__(self, other):
        return self._whole() < other._whole()

    def __le__(self, other):
        return self._whole() <= other._whole()

    def __gt__(self, other):
        return self._whole() > other._whole()

    def __ge__(self, other):
        return self._whole() >= other._whole()

    def __bool__(self):
        return self._whole() != 0


class datetime:
    def __init__(self, year, month, day, hour=0, minute=0, second=0,
                 microsecond=0):
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.microsecond = microsecond

    @classmethod
    def fromtimestamp(cls, stamp):
        when = _clock.localtime(int(stamp // 1))
        return cls(when.tm_year, when.tm_mon, when.tm_mday, when.tm_hour,
                   when.tm_min, when.tm_sec, int((stamp % 1) * 1000000))

    @classmethod
    def now(cls):
        return cls.fromtimestamp(_clock.time())

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def utcnow(cls):
        stamp = _clock.time()
        when = _clock.gmtime(int(stamp // 1))
        return cls(when.tm_year, when.tm_mon, when.tm_mday, when.tm_hour,
                   when.tm_min, when.tm_sec, int((stamp % 1) * 1000000))

    def _fields(self):
        return [self.year, self.month, self.day, self.hour, self.minute,
                self.second, 0, 0, -1]

    def timestamp(self):
        return _clock.mktime(self._fields()) + self.microsecond / 1000000

    def strftime(self, format):
        format = format.replace("%f", "%06d" % self.microsecond)
        return _clock.strftime(format, self._fields())

    def isoformat(self, sep="T"):
        text = "%04d-%02d-%02d%s%02d:%02d:%02d" % (
            self.year, self.month, self.day, sep, self.hour, self.minute,
            self.second)
        if self.microsecond:
            text = text + ".%06d" % self.microsecond
        return text

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        parts = [self.year, self.month, self.day, self.hour, self.minute]
        if self.second or self.microsecond:
            parts.append(self.second)
        if self.microsecond:
            parts.append(self.microsecond)
        return "datetime.datetime(" + ", ".join(str(p) for p in parts) + ")"

    def __sub__(self, other):
        if isinstance(other, datetime):
            whole = _clock.mktime(self._fields()) - _clock.mktime(
                other._fields())
            return timedelta(seconds=whole, microseconds=self.microsecond
                             - other.microsecond)
        if isinstance(other, timedelta):
            return datetime.fromtimestamp(self.timestamp()
                                          - other.total_seconds())
        return NotImplemented

    def __add__(self, other):
        if isinstance(other, timedelta):
            return datetime.fromtimestamp(self.timestamp()
                                          + other.total_seconds())
        return NotImplemented

    def __eq__(self, other):
        return isinstance(other, datetime) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __lt__(self, other):
        return self.timestamp() < other.timestamp()
