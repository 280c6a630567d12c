# SPDX-License-Identifier: MIT
"""Clocks and dates.  sleep() lets other threads have their turns and returns
at once; the clocks go on as if it had waited."""
from collections import namedtuple
import _time
import _turns

_Fields = namedtuple("struct_time", [
    "tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday",
    "tm_yday", "tm_isdst"])


class struct_time(_Fields):
    __slots__ = ()
    tm_zone, tm_gmtoff = "UTC", 0

    def __new__(cls, *fields):
        if len(fields) == 1:                    # a sequence of them
            fields = tuple(fields[0])
        if len(fields) != 9:
            raise TypeError("time.struct_time() takes a 9-sequence "
                            f"({len(fields)}-sequence given)")
        return super().__new__(cls, *fields)

    def __repr__(self):
        return "time." + super().__repr__()


struct_time.__module__ = "time"
timezone = altzone = daylight = 0
tzname = ("UTC", "UTC")
(CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
 CLOCK_THREAD_CPUTIME_ID) = range(4)


def time():
    return _time.time() + _turns.clock()


def time_ns():
    return int(time() * 1e9)


def monotonic():
    return _time.monotonic() + _turns.clock()


def monotonic_ns():
    return int(monotonic() * 1e9)


def perf_counter():
    return monotonic()


def perf_counter_ns():
    return int(monotonic() * 1e9)


def process_time():
    return _time.process_time()


def process_time_ns():
    return int(_time.process_time() * 1e9)


def thread_time():
    return _time.process_time()


def sleep(seconds):
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if seconds != seconds:
        raise ValueError("Invalid value NaN (not a number)")
    if seconds > 9223372036:
        raise OverflowError("timestamp out of range for platform time_t"
                            if isinstance(seconds, float) else
                            "timestamp too large to convert to C _PyTime_t")
    _turns.sleep(seconds)


def localtime(seconds=None):
    return struct_time(*_time.fields(time() if seconds is None else seconds,
                                     False))


def gmtime(seconds=None):
    return struct_time(*_time.fields(time() if seconds is None else seconds,
                                     True))


def mktime(when):
    return _time.mktime(list(when))


def strftime(format, when=None):
    if when is None:
        when = localtime()
    return _time.strftime(format, list(when))


def asctime(when=None):
    return strftime("%a %b %e %H:%M:%S %Y", when)


def ctime(seconds=None):
    return asctime(localtime(seconds))


def strptime(string, format="%a %b %d %H:%M:%S %Y"):
    import datetime
    when = datetime._parsed(datetime.datetime, string, format)
    fields = list(when.timetuple())
    fields[8] = -1
    return struct_time(*fields)


def clock_gettime(clk_id, /):
    return (time, monotonic, process_time, thread_time)[clk_id]()


def clock_gettime_ns(clk_id, /):
    return int(clock_gettime(clk_id) * 1e9)


def thread_time_ns():
    return process_time_ns()


def tzset():
    pass
