# SPDX-License-Identifier: MIT
"""Dates of the Gregorian calendar, times of the day, spans of time, and time
zones of a fixed offset.  The clock's own zone is UTC."""
import _absent
import re as _re
import time as _clock

MINYEAR = 1
MAXYEAR = 9999

_BEFORE = (0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
         "Sunday")
_MONTHS = ("", "January", "February", "March", "April", "May", "June", "July",
           "August", "September", "October", "November", "December")


def _is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year, month):
    if month == 12:
        return 31
    return (_BEFORE[month + 1] - _BEFORE[month]
            + (month == 2 and _is_leap(year)))


def _ordinal(year, month, day):
    y = year - 1
    return (y * 365 + y // 4 - y // 100 + y // 400 + _BEFORE[month]
            + (month > 2 and _is_leap(year)) + day)


def _of_ordinal(n):
    """(year, month, day) of a day's number; 1 is the first of January 1."""
    year = n // 366 + 1
    while _ordinal(year + 1, 1, 1) <= n:
        year += 1
    month = 12
    while _ordinal(year, month, 1) > n:
        month -= 1
    return year, month, n - _ordinal(year, month, 1) + 1


def _check_int(name, value):
    if not isinstance(value, int):
        raise TypeError("'%s' object cannot be interpreted as an integer"
                        % type(value).__name__)


def _check_date(year, month, day):
    for name, value in (("year", year), ("month", month), ("day", day)):
        _check_int(name, value)
    if not MINYEAR <= year <= MAXYEAR:
        raise ValueError("year %d is out of range" % year)
    if not 1 <= month <= 12:
        raise ValueError("month must be in 1..12")
    if not 1 <= day <= _days_in(year, month):
        raise ValueError("day is out of range for month")


def _check_time(hour, minute, second, microsecond):
    for name, value, top in (("hour", hour, 23), ("minute", minute, 59),
                             ("second", second, 59),
                             ("microsecond", microsecond, 999999)):
        _check_int(name, value)
        if not 0 <= value <= top:
            raise ValueError("%s must be in 0..%d" % (name, top))


def _offset_text(span, sep=":"):
    if span is None:
        return ""
    whole = span._whole() // 1000000
    sign = "-" if whole < 0 else "+"
    whole = abs(whole)
    text = "%s%02d%s%02d" % (sign, whole // 3600, sep, whole // 60 % 60)
    return text + ("%s%02d" % (sep, whole % 60) if whole % 60 else "")


def _clock_text(hour, minute, second, microsecond, timespec):
    if timespec == "auto":
        timespec = "microseconds" if microsecond else "seconds"
    forms = {"hours": "%02d" % hour, "minutes": "%02d:%02d" % (hour, minute)}
    forms["seconds"] = forms["minutes"] + ":%02d" % second
    forms["milliseconds"] = forms["seconds"] + ".%03d" % (microsecond // 1000)
    forms["microseconds"] = forms["seconds"] + ".%06d" % microsecond
    if timespec not in forms:
        raise ValueError("Unknown timespec value")
    return forms[timespec]


def _formatted(format, day, hour, minute, second, microsecond, offset, zone):
    """strftime of a date and a time of the day."""
    yday = day.toordinal() - _ordinal(day.year, 1, 1) + 1
    weekday = day.weekday()
    iso = day.isocalendar()
    values = {
        "a": _DAYS[weekday][:3], "A": _DAYS[weekday], "w": (weekday + 1) % 7,
        "d": "%02d" % day.day, "b": _MONTHS[day.month][:3],
        "h": _MONTHS[day.month][:3], "B": _MONTHS[day.month],
        "m": "%02d" % day.month, "y": "%02d" % (day.year % 100),
        "Y": str(day.year), "H": "%02d" % hour,
        "I": "%02d" % ((hour + 11) % 12 + 1), "p": "PM" if hour > 11 else "AM",
        "M": "%02d" % minute, "S": "%02d" % second, "f": "%06d" % microsecond,
        "z": _offset_text(offset, ""), "Z": zone or "", "j": "%03d" % yday,
        "e": "%2d" % day.day, "G": str(iso[0]), "V": "%02d" % iso[1],
        "u": weekday + 1, "U": "%02d" % ((yday + 6 - (weekday + 1) % 7) // 7),
        "W": "%02d" % ((yday + 6 - weekday) // 7), "%": "%", "n": "\n",
        "t": "\t"}
    values["D"] = values["x"] = "%s/%s/%s" % (values["m"], values["d"],
                                              values["y"])
    values["F"] = "%s-%s-%s" % (values["Y"], values["m"], values["d"])
    values["T"] = values["X"] = "%02d:%02d:%02d" % (hour, minute, second)
    values["R"] = "%02d:%02d" % (hour, minute)
    values["c"] = "%s %s %s %s %s" % (values["a"], values["b"], values["e"],
                                      values["T"], values["Y"])
    out, i = [], 0
    while i < len(format):
        if format[i] != "%" or i + 1 == len(format):
            out.append(format[i])
            i += 1
            continue
        word = format[i + 1]
        if word == "s":
            raise _absent.error("strftime: %s is not part of dtrepl")
        out.append(str(values.get(word, "%" + word)))
        i += 2
    return "".join(out)


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
        if abs(self.days) > 999999999:
            raise OverflowError("days=%d; must have magnitude <= 999999999"
                                % self.days)

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
        if not isinstance(n, (int, float)):
            return NotImplemented
        return timedelta(microseconds=self._whole() * n)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._whole() / other._whole()
        if not isinstance(other, (int, float)):
            return NotImplemented
        return timedelta(microseconds=self._whole() / other)

    def __floordiv__(self, other):
        if isinstance(other, timedelta):
            return self._whole() // other._whole()
        if not isinstance(other, int):
            return NotImplemented
        return timedelta(microseconds=self._whole() // other)

    def __mod__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return timedelta(microseconds=self._whole() % other._whole())

    def __divmod__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self // other, self % other

    def __neg__(self):
        return timedelta(microseconds=-self._whole())

    def __pos__(self):
        return self

    def __abs__(self):
        return -self if self.days < 0 else self

    def __eq__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self._whole() == other._whole()

    def __hash__(self):
        return hash(self._whole())

    def __lt__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self._whole() < other._whole()

    def __le__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self._whole() <= other._whole()

    def __gt__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self._whole() > other._whole()

    def __ge__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self._whole() >= other._whole()

    def __bool__(self):
        return self._whole() != 0


timedelta.min = timedelta(-999999999)
timedelta.max = timedelta(999999999, 86399, 999999)
timedelta.resolution = timedelta(microseconds=1)


class tzinfo:
    """The base of time zones."""

    def utcoffset(self, dt):
        raise NotImplementedError("tzinfo subclass must override utcoffset()")

    def tzname(self, dt):
        raise NotImplementedError("tzinfo subclass must override tzname()")

    def dst(self, dt):
        raise NotImplementedError("tzinfo subclass must override dst()")

    def fromutc(self, dt):
        if dt.tzinfo is not self:
            raise ValueError("fromutc: dt.tzinfo is not self")
        offset, summer = dt.utcoffset(), dt.dst()
        if offset is None or summer is None:
            raise ValueError("fromutc() requires a non-None utcoffset() and "
                             "dst() result")
        dt += offset - summer
        return dt + dt.dst()


class timezone(tzinfo):
    def fromutc(self, dt):
        return dt + self._offset

    def __init__(self, offset, name=None):
        if not isinstance(offset, timedelta):
            raise TypeError("timezone() argument 1 must be datetime.timedelta, "
                            "not " + type(offset).__name__)
        if abs(offset) >= timedelta(1):
            raise ValueError("offset must be a timedelta strictly between "
                             "-timedelta(hours=24) and timedelta(hours=24), "
                             "not %r." % (offset,))
        self._offset = offset
        self._name = name

    def utcoffset(self, dt):
        return self._offset

    def tzname(self, dt):
        if self._name is not None:
            return self._name
        return "UTC" + (_offset_text(self._offset) if self._offset else "")

    def dst(self, dt):
        return None

    def __str__(self):
        return self.tzname(None)

    def __repr__(self):
        if self is timezone.utc:
            return "datetime.timezone.utc"
        if self._name is None:
            return "datetime.timezone(%r)" % self._offset
        return "datetime.timezone(%r, %r)" % (self._offset, self._name)

    def __eq__(self, other):
        if not isinstance(other, timezone):
            return NotImplemented
        return self._offset == other._offset

    def __hash__(self):
        return hash(self._offset)


timezone.utc = timezone(timedelta(0))
UTC = timezone.utc


class IsoCalendarDate(tuple):
    """Year, week and day of the ISO calendar."""

    year = property(lambda self: self[0])
    week = property(lambda self: self[1])
    weekday = property(lambda self: self[2])

    def __repr__(self):
        return ("datetime.IsoCalendarDate(year=%d, week=%d, weekday=%d)"
                % tuple(self))


def _replaced(when, names, parts, changes):
    fields = {n: getattr(when, n) for n in names}
    fields.update(zip(names, parts))
    fields["fold"] = when.fold
    return type(when)(**{**fields, **changes})


def _iso_year(ordinal):
    return _of_ordinal(ordinal)[0]


class date:
    def __init__(self, year, month, day):
        _check_date(year, month, day)
        self.year, self.month, self.day = year, month, day

    @classmethod
    def fromordinal(cls, n):
        if not 1 <= n <= 3652059:
            raise OverflowError("date value out of range")
        return cls(*_of_ordinal(n))

    @classmethod
    def fromtimestamp(cls, stamp):
        return cls.fromordinal(719163 + int(stamp // 86400))

    @classmethod
    def today(cls):
        return cls.fromtimestamp(_clock.time())

    @classmethod
    def fromisoformat(cls, text):
        m = _re.fullmatch(r"(\d{4})(-?)W(\d\d)(?:\2(\d))?", text)
        if m:
            day = date.fromisocalendar(int(m[1]), int(m[3]), int(m[4] or 1))
            return cls(day.year, day.month, day.day)
        m = _re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d)", text)
        if not m:
            raise ValueError("Invalid isoformat string: %r" % (text,))
        return cls(*(int(part) for part in m.groups() if part))

    def toordinal(self):
        return _ordinal(self.year, self.month, self.day)

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.weekday() + 1

    @classmethod
    def fromisocalendar(cls, year, week, day):
        if not 1 <= year <= 9999:
            raise ValueError(f"Year is out of range: {year}")
        first = _ordinal(year, 1, 4)
        first -= (first + 6) % 7                    # the Monday of week 1
        if not 1 <= week <= 53 or week == 53 and (
                _iso_year(first + 52 * 7 + 3) != year):
            raise ValueError(f"Invalid week: {week}")
        if not 1 <= day <= 7:
            raise ValueError(f"Invalid weekday: {day} (range is [1, 7])")
        return cls.fromordinal(first + (week - 1) * 7 + day - 1)

    def isocalendar(self):
        thursday = self.toordinal() - self.weekday() + 3
        year = _of_ordinal(thursday)[0]
        return IsoCalendarDate((year, (thursday - _ordinal(year, 1, 1)) // 7
                                + 1, self.weekday() + 1))

    def replace(self, year=None, month=None, day=None):
        return type(self)(self.year if year is None else year,
                          self.month if month is None else month,
                          self.day if day is None else day)

    def timetuple(self):
        return _clock.struct_time(
            self.year, self.month, self.day, 0, 0, 0, self.weekday(),
            self.toordinal() - _ordinal(self.year, 1, 1) + 1, -1)

    def strftime(self, format):
        return _formatted(format, self, 0, 0, 0, 0, None, None)

    def __format__(self, spec):
        return self.strftime(spec) if spec else str(self)

    def ctime(self):
        return self.strftime("%a %b %e %H:%M:%S %Y")

    def isoformat(self):
        return "%04d-%02d-%02d" % (self.year, self.month, self.day)

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return "datetime.date(%d, %d, %d)" % (self.year, self.month, self.day)

    def _order(self, other):
        if not isinstance(other, date):
            return None
        if isinstance(other, datetime):
            raise TypeError("can't compare datetime.datetime to datetime.date")
        return self.toordinal() - other.toordinal()

    def __eq__(self, other):
        if isinstance(other, datetime) or not isinstance(other, date):
            return NotImplemented
        return self._order(other) == 0

    def __lt__(self, other):
        n = self._order(other)
        return NotImplemented if n is None else n < 0

    def __le__(self, other):
        n = self._order(other)
        return NotImplemented if n is None else n <= 0

    def __gt__(self, other):
        n = self._order(other)
        return NotImplemented if n is None else n > 0

    def __ge__(self, other):
        n = self._order(other)
        return NotImplemented if n is None else n >= 0

    def __hash__(self):
        return hash((self.year, self.month, self.day))

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self.fromordinal(self.toordinal() + other.days)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return self.fromordinal(self.toordinal() - other.days)
        if isinstance(other, date):
            return timedelta(self.toordinal() - other.toordinal())
        return NotImplemented


date.min = date(1, 1, 1)
date.max = date(9999, 12, 31)
date.resolution = timedelta(1)


class time:
    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None,
                 *, fold=0):
        _check_time(hour, minute, second, microsecond)
        self.hour, self.minute, self.second = hour, minute, second
        self.microsecond, self.tzinfo, self.fold = microsecond, tzinfo, fold

    @classmethod
    def fromisoformat(cls, text):
        fields = _iso_time(text)
        if fields is None:
            raise ValueError("Invalid isoformat string: %r" % (text,))
        return cls(*fields)

    def replace(self, *parts, **changes):
        return _replaced(self, ("hour", "minute", "second", "microsecond",
                                "tzinfo"), parts, changes)

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(None)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(None)

    def isoformat(self, timespec="auto"):
        return _clock_text(self.hour, self.minute, self.second,
                           self.microsecond, timespec) + _offset_text(
                               self.utcoffset())

    def strftime(self, format):
        return _formatted(format, date(1900, 1, 1), self.hour, self.minute,
                          self.second, self.microsecond, self.utcoffset(),
                          self.tzname())

    def __format__(self, spec):
        return self.strftime(spec) if spec else str(self)

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        parts = [self.hour, self.minute]
        if self.second or self.microsecond:
            parts.append(self.second)
        if self.microsecond:
            parts.append(self.microsecond)
        text = ", ".join(map(str, parts))
        if self.tzinfo is not None:
            text = text + ", tzinfo=%r" % (self.tzinfo,)
        return "datetime.time(%s)" % text

    def _whole(self):
        offset = self.utcoffset()
        return (((self.hour * 60 + self.minute) * 60 + self.second) * 1000000
                + self.microsecond - (offset._whole() if offset else 0))

    def __eq__(self, other):
        if not isinstance(other, time):
            return NotImplemented
        return self._whole() == other._whole()

    def __lt__(self, other):
        if not isinstance(other, time):
            return NotImplemented
        return self._whole() < other._whole()

    def __le__(self, other):
        if not isinstance(other, time):
            return NotImplemented
        return self._whole() <= other._whole()

    def __hash__(self):
        return hash(self._whole())


time.min = time(0, 0)
time.max = time(23, 59, 59, 999999)


def _iso_time(text):
    """The fields of a time in ISO's form, or None."""
    form = (r"(\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?" if ":" in text[:3]
            else r"(\d\d)(?:(\d\d)(?:(\d\d)(?:[.,](\d+))?)?)?")
    m = _re.fullmatch(form + r"(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?",
                      text.removeprefix("T"))
    if not m:
        return None
    hour, minute, second, part, zone = m.groups()
    if zone is not None:
        zone = _zone(zone)
    return (int(hour), int(minute or 0), int(second or 0),
            int(((part or "") + "000000")[:6]), zone)


def _zone(text):
    if text == "Z":
        return timezone.utc
    digits = text[1:].replace(":", "")
    span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4] or 0),
                     seconds=int(digits[4:] or 0))
    if not span:
        return timezone.utc
    return timezone(-span if text[0] == "-" else span)


class datetime(date):
    def __init__(self, year, month, day, hour=0, minute=0, second=0,
                 microsecond=0, tzinfo=None, *, fold=0):
        _check_date(year, month, day)
        _check_time(hour, minute, second, microsecond)
        self.year, self.month, self.day = year, month, day
        self.hour, self.minute, self.second = hour, minute, second
        self.microsecond, self.tzinfo, self.fold = microsecond, tzinfo, fold

    @classmethod
    def _of_whole(cls, whole, tzinfo=None):
        """From microseconds since the day before January 1 of the year 1."""
        days, rest = divmod(whole, 86400000000)
        if not 1 <= days <= 3652059:
            raise OverflowError("date value out of range")
        year, month, day = _of_ordinal(days)
        second, micro = divmod(rest, 1000000)
        return cls(year, month, day, second // 3600, second // 60 % 60,
                   second % 60, micro, tzinfo)

    def _whole(self):
        return (((self.toordinal() * 24 + self.hour) * 60 + self.minute) * 60
                + self.second) * 1000000 + self.microsecond

    @classmethod
    def fromtimestamp(cls, stamp, tz=None):
        out = cls._of_whole(719163 * 86400000000 + round(stamp * 1000000))
        if tz is None:
            return out
        return out.replace(tzinfo=timezone.utc).astimezone(tz)

    @classmethod
    def utcfromtimestamp(cls, stamp):
        return cls.fromtimestamp(stamp)

    @classmethod
    def fromordinal(cls, n):
        return cls._of_whole(n * 86400000000)

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_clock.time(), tz)

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def utcnow(cls):
        return cls.now()

    @classmethod
    def combine(cls, date, time, tzinfo=True):
        return cls(date.year, date.month, date.day, time.hour, time.minute,
                   time.second, time.microsecond,
                   time.tzinfo if tzinfo is True else tzinfo)

    @classmethod
    def fromisoformat(cls, text):
        m = _re.fullmatch(r"(\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d(?:-?\d)?)"
                          r"(?:\D(.+))?", text)
        fields = (0, 0, 0, 0, None)
        if m and m.group(2):
            fields = _iso_time(m.group(2))
        if not m or fields is None:
            raise ValueError("Invalid isoformat string: %r" % (text,))
        day = date.fromisoformat(m.group(1))
        return cls(day.year, day.month, day.day, *fields)

    @classmethod
    def strptime(cls, text, format):
        return _parsed(cls, text, format)

    def date(self):
        return date(self.year, self.month, self.day)

    def time(self):
        return time(self.hour, self.minute, self.second, self.microsecond)

    def timetz(self):
        return self.time().replace(tzinfo=self.tzinfo)

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(self)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(self)

    def dst(self):
        return None if self.tzinfo is None else self.tzinfo.dst(self)

    def replace(self, *parts, **changes):
        return _replaced(self, ("year", "month", "day", "hour", "minute",
                                "second", "microsecond", "tzinfo"), parts,
                         changes)

    def astimezone(self, tz=None):
        tz = timezone.utc if tz is None else tz
        offset = self.utcoffset() or timedelta(0)
        utc = (self.replace(tzinfo=None) - offset).replace(tzinfo=tz)
        return tz.fromutc(utc)

    def timestamp(self):
        offset = self.utcoffset()
        return (self._whole() - 719163 * 86400000000
                - (offset._whole() if offset else 0)) / 1000000

    def timetuple(self):
        return _clock.struct_time(
            self.year, self.month, self.day, self.hour, self.minute,
            self.second, self.weekday(),
            self.toordinal() - _ordinal(self.year, 1, 1) + 1,
            -1 if self.dst() is None else int(bool(self.dst())))

    def utctimetuple(self):
        utc = self - (self.utcoffset() or timedelta(0))
        return utc.replace(tzinfo=None)._fields(0)

    def _fields(self, isdst):
        return _clock.struct_time(*self.timetuple()[:8], isdst)

    def strftime(self, format):
        return _formatted(format, self, self.hour, self.minute, self.second,
                          self.microsecond, self.utcoffset(), self.tzname())

    def isoformat(self, sep="T", timespec="auto"):
        return ("%04d-%02d-%02d" % (self.year, self.month, self.day) + sep
                + _clock_text(self.hour, self.minute, self.second,
                              self.microsecond, timespec)
                + _offset_text(self.utcoffset()))

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        parts = [self.year, self.month, self.day, self.hour, self.minute]
        if self.second or self.microsecond:
            parts.append(self.second)
        if self.microsecond:
            parts.append(self.microsecond)
        text = ", ".join(str(p) for p in parts)
        if self.tzinfo is not None:
            text = text + ", tzinfo=%r" % (self.tzinfo,)
        return "datetime.datetime(" + text + ")"

    def __hash__(self):
        return hash(self.timestamp())

    def _order(self, other):
        if isinstance(other, date) and not isinstance(other, datetime):
            raise TypeError("can't compare datetime.datetime to datetime.date")
        if not isinstance(other, datetime):
            return None
        mine, its = self.utcoffset(), other.utcoffset()
        if (mine is None) != (its is None):
            raise TypeError("can't compare offset-naive and offset-aware "
                            "datetimes")
        return (self - other)._whole()

    def __eq__(self, other):
        if not isinstance(other, datetime):
            return NotImplemented
        if (self.utcoffset() is None) != (other.utcoffset() is None):
            return False
        return self._order(other) == 0

    def __sub__(self, other):
        if isinstance(other, datetime):
            mine, its = self.utcoffset(), other.utcoffset()
            if (mine is None) != (its is None):
                raise TypeError("can't subtract offset-naive and offset-aware "
                                "datetimes")
            span = timedelta(microseconds=self._whole() - other._whole())
            return span if mine is None else span - mine + its
        if isinstance(other, timedelta):
            return self + -other
        return NotImplemented

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self._of_whole(self._whole() + other._whole(), self.tzinfo)

    __radd__ = __add__


datetime.min = datetime(1, 1, 1)
datetime.max = datetime(9999, 12, 31, 23, 59, 59, 999999)
datetime.resolution = timedelta(microseconds=1)

_PIECES = {
    "Y": r"(?P<Y>\d{4})", "m": r"(?P<m>1[0-2]|0?[1-9])",
    "d": r"(?P<d>3[01]|[12]\d|0?[1-9]| [1-9])", "H": r"(?P<H>2[0-3]|[01]?\d)",
    "I": r"(?P<I>1[0-2]|0?[1-9])", "M": r"(?P<M>[0-5]?\d)",
    "S": r"(?P<S>6[01]|[0-5]?\d)", "f": r"(?P<f>\d{1,6})",
    "y": r"(?P<y>\d\d)", "j": r"(?P<j>\d{1,3})", "p": r"(?P<p>[AaPp][Mm])",
    "z": r"(?P<z>Z|[+-]\d\d:?\d\d(?::?\d\d)?)", "Z": r"(?P<Z>UTC|GMT)",
    "b": "(?P<b>" + "|".join(m[:3] for m in _MONTHS[1:]) + ")",
    "B": "(?P<B>" + "|".join(_MONTHS[1:]) + ")",
    "a": "(?:" + "|".join(d[:3] for d in _DAYS) + ")",
    "A": "(?:" + "|".join(_DAYS) + ")", "%": "%"}


def _pattern(format):
    format = format.replace("%T", "%H:%M:%S").replace("%F", "%Y-%m-%d")
    out, i = [], 0
    while i < len(format):
        char = format[i]
        if char == "%":
            word = format[i + 1:i + 2]
            if word == "":
                raise ValueError("stray %% in format '%s'" % format)
            if word not in _PIECES:
                raise ValueError("'%s' is a bad directive in format '%s'"
                                 % (word, format))
            out.append(_PIECES[word])
            i += 1
        else:
            out.append(r"\s+" if char.isspace() else _re.escape(char))
        i += 1
    return "".join(out)


def _parsed(cls, text, format):
    m = _re.match(_pattern(format), text, _re.IGNORECASE)
    if not m:
        raise ValueError("time data %r does not match format %r"
                         % (text, format))
    if m.end() != len(text):
        raise ValueError("unconverted data remains: " + text[m.end():])
    got = m.groupdict()
    year = int(got.get("Y") or 1900)
    if got.get("y"):
        year = int(got["y"])
        year += 2000 if year < 69 else 1900
    month, day = int(got.get("m") or 1), int(got.get("d") or 1)
    for key, size in (("b", 3), ("B", None)):
        if got.get(key):
            names = [name[:size].lower() for name in _MONTHS]
            month = names.index(got[key].lower())
    if got.get("j"):
        _, month, day = _of_ordinal(_ordinal(year, 1, 1) + int(got["j"]) - 1)
    hour = int(got.get("H") or 0)
    if got.get("I"):
        hour = int(got["I"]) % 12
        if (got.get("p") or "").lower() == "pm":
            hour += 12
    zone = _zone(got["z"]) if got.get("z") else None
    return cls(year, month, day, hour, int(got.get("M") or 0),
               int(got.get("S") or 0), int(((got.get("f") or "0") + "00000")[:6]),
               zone)
