# SPDX-License-Identifier: MIT
# Modules of the library: calendars, colours, options, commands, letters for bytes.
import abc
import base64
import calendar
import cmd
import colorsys
import csv
import enum
import getopt
import inspect
import io
import sched
import statistics
import time
import types
from contextlib import *
from datetime import date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction

print(AbstractAsyncContextManager.__name__, "deque" in globals())
print(date.fromisocalendar(2020, 53, 5), date.fromisoformat("2011-W44-5"))
print(datetime.fromisoformat("20111104T000523Z"), datetime.fromisoformat("2011-11-04T00+05"))
for f in (lambda: date.fromisocalendar(2021, 53, 1), lambda: date.fromisoformat("2020-1-1"),
          lambda: datetime(2020, 1, 1) < date(2020, 1, 1)):
    try:
        print(f())
    except (ValueError, TypeError) as e:
        print(type(e).__name__, e)


class Zone(tzinfo):
    def utcoffset(self, dt):
        return timedelta(hours=-5) + self.dst(dt)

    def dst(self, dt):
        return timedelta(hours=1 if 4 <= dt.month <= 10 else 0)

    def tzname(self, dt):
        return "Z"

e = datetime(2024, 7, 1, 8, tzinfo=Zone())
print(e, e.astimezone(timezone.utc), e.timetuple().tm_isdst, e.utctimetuple()[:5])
print(datetime(2024, 12, 1, 12, tzinfo=timezone.utc).astimezone(Zone()), e.replace(2020, 2, 3))
print(time.strptime("30 Nov 00", "%d %b %y"), time.struct_time(range(9)))
print(calendar.TextCalendar(6).formatmonth(2023, 10), calendar.month(2024, 2))
print(calendar.calendar(2024)[:300], calendar.weekheader(3))
print(list(calendar.Calendar().itermonthdays2(2024, 9))[:8], calendar.Calendar(6).monthdatescalendar(2024, 2)[0][0])
n = statistics.NormalDist(100, 15)
print(n.inv_cdf(.9), n.quantiles(4), n.overlap(statistics.NormalDist(110, 10)), n - 3, -n, n / 2)
print(n.inv_cdf(1e-9), n.inv_cdf(.01), statistics.mean([Decimal("1.5"), Decimal(2)]))
print(statistics.stdev([Decimal(1), Decimal("2.5"), Decimal(4)]), Fraction.from_decimal(Decimal("0.25")))
print([tuple(round(x, 4) for x in f(.2, .4, .6)) for f in (
    colorsys.rgb_to_hsv, colorsys.hsv_to_rgb, colorsys.rgb_to_hls, colorsys.hls_to_rgb,
    colorsys.rgb_to_yiq, colorsys.yiq_to_rgb)])
print(getopt.getopt(["-a", "-bx", "--long=1", "--fl", "r", "-z"], "ab:", ["long=", "flag"]))
print(getopt.gnu_getopt(["r", "-a", "s", "--flag"], "a", ["flag"]))
for a in (["-q"], ["-b"], ["--long"], ["--flag=1"], ["--nope"]):
    try:
        getopt.getopt(a, "ab:", ["long=", "flag"])
    except getopt.GetoptError as e:
        print(e, e.opt)
for data in (b"", b"a", b"hello", bytes(range(20))):
    for to, back in ((base64.b32encode, base64.b32decode), (base64.b85encode, base64.b85decode),
                     (base64.a85encode, base64.a85decode), (base64.b32hexencode, base64.b32hexdecode)):
        text = to(data)
        print(text, back(text) == data, end=" ")
print(base64.a85encode(bytes(8), adobe=True), base64.encodebytes(b"x" * 60))


class Shell(cmd.Cmd):
    prompt, use_rawinput = "$ ", False

    def do_add(self, arg):
        "add NUMBERS"
        print(sum(map(int, arg.split())), file=self.stdout)

    def do_EOF(self, arg):
        return True

out = io.StringIO()
Shell(stdin=io.StringIO("add 1 2\nfoo\nhelp add\nhelp\nadd 3"), stdout=out).cmdloop("hi")
print(out.getvalue())
s, log = sched.scheduler(lambda: 0, lambda t: None), []
s.enterabs(0, 2, log.append, ("b",))
gone = s.enterabs(0, 3, log.append, ("c",))
s.enterabs(0, 1, log.append, ("a",))
s.cancel(gone)
print(s.run(), log, s.empty())
print(csv.Sniffer().sniff("a;b;c\n1;2;3\n").delimiter, csv.Sniffer().has_header("n,v\nab,1\ncd,2\n"))
try:
    @enum.verify(enum.CONTINUOUS)
    class Gap(enum.IntEnum):
        A, C = 1, 3
except ValueError as e:
    print(e)


class Above:
    def m(self, x):
        "doc of m"


class Below(Above):
    def m(self, x):
        pass

print(inspect.signature(Below), inspect.getdoc(Below.m), inspect.getcallargs(lambda a, b=2: 0, 5))
print(inspect.getattr_static(Below, "m").__name__, isinstance(inspect.getcallargs.__code__, types.CodeType))
print((lambda *a, **k: 0).__code__.co_flags & inspect.CO_VARARGS, abc.get_cache_token() >= 0)


class Number(int):
    def __str__(self):
        return f"N{int(self)}"

print(f"{Number(3)} {Number(3):03d}", "%s" % Number(4), f"{Number(5)!r}")
for f in (lambda: b"\xe2\x98".decode(), lambda: "aéñb".encode("ascii"), lambda: "\ud800".encode()):
    try:
        f()
    except UnicodeError as e:
        print(e, e.start, e.end, e.reason, e.encoding)
print(UnicodeDecodeError("utf8", b"\xff", 0, 1, "bad"), UnicodeEncodeError("x", "é", 0, 1, "bad"))
