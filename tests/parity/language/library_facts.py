# SPDX-License-Identifier: MIT
# Small modules of the library: errno, signal, stat, hmac, html, urllib.parse,
# calendar, reprlib, graphlib, cmath, zlib's checksums; gamma() to the last bit.
import calendar
import cmath
import dataclasses
import errno
import graphlib
import html
import hmac
import inspect
import math
import os
import random
import reprlib
import secrets
import shutil
import signal
import stat
import statistics
import timeit
import urllib.parse
import zlib
from urllib.parse import quote, unquote, urlencode, urljoin, urlparse


def fails(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


r = random.Random(1)
print([math.gamma(r.uniform(-3, 50)) for _ in range(40)])
print([math.lgamma(r.uniform(-20, 60)) for _ in range(40)], math.gamma(150.5), math.lgamma(1e300))
fails(lambda: math.gamma(180.5))
try:
    open("no_such_file")
except OSError as e:
    print(e.errno == errno.ENOENT, errno.errorcode[e.errno], errno.EEXIST, errno.EAGAIN)


def handler(number, frame):
    print("handled", signal.Signals(number).name)


print(signal.signal(signal.SIGTERM, handler), signal.getsignal(signal.SIGTERM) is handler)
signal.raise_signal(signal.SIGTERM)
print(repr(signal.SIGINT), signal.SIGKILL.value, signal.strsignal(15), signal.SIGINT == 2,
      signal.Signals["SIGUSR1"], len(signal.valid_signals()), signal.SIG_IGN)
fails(lambda: signal.signal(99, handler))
fails(lambda: signal.signal(signal.SIGINT, "x"))
print(stat.filemode(0o100644), stat.filemode(0o041777), stat.S_ISDIR(0o040755), oct(stat.S_IMODE(0o100644)))
print(hmac.new(b"k", b"m", "sha256").hexdigest(), hmac.new(b"k" * 100, digestmod="md5").hexdigest(), hmac.compare_digest("a", "b"))
print(html.escape("<a href=\"x\">'&</a>"), html.unescape("&lt;&#39;&#x41;&amp;amp; a&b"))
u = urlparse("https://user:pw@Host.example:8080/a/b;p?q=1&r=#frag")
print(u, u.port, u.hostname, u.username, u.password, u.geturl())
print(quote("a b/é?&"), quote("a/b", safe=""), unquote("%41%20%C3%A9%zz"), urlencode({"a": 1, "b": "x y", "c": "é&"}), urlencode({"k": [1, 2]}, doseq=True))
print(urllib.parse.parse_qs("a=1&a=2&b=&c=%20x+y"), urllib.parse.parse_qsl("a=1&b=", keep_blank_values=True))
for part in ("c", "../d", "/e", "?q=2", "#f", "//other/g", "./h/../i", "mailto:x"):
    print(urljoin("http://a/b/c/d?x=1", part), end=" ")
print(urllib.parse.urlsplit("tcp://[::1]:29500").port, urlparse("file:///tmp/x").path, urlparse("/just/path"))
fails(lambda: urlparse("http://a:b/").port)
print(calendar.monthrange(2024, 2), calendar.isleap(1900), calendar.timegm((1970, 1, 2, 0, 0, 0)), calendar.month_abbr[3], calendar.day_name[0])
print(calendar.monthcalendar(2024, 2))
print(calendar.month(2024, 2))
fails(lambda: calendar.monthrange(2024, 13))
print(reprlib.repr(list(range(100))), reprlib.repr("x" * 100), reprlib.repr({i: i for i in range(9)}), reprlib.repr((1,)), reprlib.repr([[[1, [2]]]]), reprlib.repr(10 ** 100))
order = graphlib.TopologicalSorter({"d": {"b"}, "b": {"a"}})
print(list(order.static_order()))
fails(lambda: list(graphlib.TopologicalSorter({1: [2], 2: [1]}).static_order()))
print(cmath.sqrt(-1), cmath.polar(1j), cmath.phase(-1), cmath.log(-1), cmath.sqrt(3 + 4j), cmath.rect(2, 1), cmath.exp(1j * math.pi))
print(zlib.crc32(b"hello"), zlib.crc32(b"lo", zlib.crc32(b"hel")), zlib.adler32(b"hello"))
print(statistics.NormalDist(1, 2).cdf(0.3), statistics.NormalDist.from_samples([1, 2, 4]), statistics.median_grouped([1, 2, 2, 3]))
print(len(secrets.token_hex(4)), len(secrets.token_bytes(5)), secrets.choice([7]), secrets.randbelow(1), timeit.timeit("x = 1", number=3) >= 0)
print(os.path.expandvars("$NO_SUCH_NAME/${X_Y}"), shutil.get_terminal_size((7, 3)).lines, os.SEEK_END, os.devnull)


class A:
    def __init__(self, x: int) -> None:
        pass


@dataclasses.dataclass
class B:
    x: int
    y: "str" = "a"


print(inspect.signature(A), inspect.signature(B), inspect.signature(B.__init__))

for f in (lambda: bytes([300]), lambda: bytearray([300]), lambda: bytes([-1]),
          lambda: bytearray(1).extend([999])):
    try:
        print(f())
    except ValueError as e:
        print(e)
