# SPDX-License-Identifier: MIT
# Loggers and handlers, streams, clocks and dates, as CPython has them.
import logging
import io
import sys
log = logging.getLogger("app.part")
log.info("never")
logging.basicConfig(format="%(levelname)-8s|%(name)s| %(message)s", level=logging.INFO, stream=sys.stdout)
log.info("x %d %s", 1, "two")
log.debug("no")
logging.getLogger("app").setLevel(logging.DEBUG)
log.debug("yes")
try:
    1 / 0
except ZeroDivisionError:
    log.error("failed")
log.critical("{} %%", extra={"a": 1})
h = logging.StreamHandler(sys.stdout)
h.setFormatter(logging.Formatter("{levelname}: {message}", style="{"))
h.setLevel("ERROR")
log.addHandler(h)
log.propagate = False
log.error("e"); log.warning("w")
print(log, log.getEffectiveLevel(), log.isEnabledFor(10), logging.getLevelName(30), logging.getLevelName("INFO"))
log.handlers[0].addFilter(lambda r: "z" not in r.getMessage())
log.error("zzz"); log.error("%(k)s", {"k": 5})
for bad in (lambda: log.setLevel("loud"), lambda: logging.getLogger(3), lambda: logging.basicConfig(colour=1)):
    try: bad()
    except Exception as e: print(type(e).__name__, e)
print("a", "b", file=sys.stdout, end="|")
n = sys.stdout.write("x"); sys.stdout.write("y\n"); print(n)
class W:
    def write(self, t): self.got = getattr(self, "got", "") + t
w = W(); print("k", file=w); print(repr(w.got))
try: print("x", file=3)
except Exception as e: print(type(e).__name__, e)
try: sys.stdout.write(3)
except Exception as e: print(type(e).__name__, e)
s = io.StringIO()
print("in", 1, file=s); print("end", end="", file=s)
print(repr(s.getvalue()), s.tell())
s = io.StringIO("abc\nd"); print(s.readline(), s.read(), list(io.StringIO("x\ny")))
import datetime
import time
from datetime import timedelta
print(time.time() > 1e9, time.monotonic() >= 0, time.perf_counter_ns() > 0)
t = time.gmtime(86400 * 365.25)
print(tuple(t), t.tm_year, t[1])
print(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(0)), time.strftime("%d/%m", time.gmtime(1e9)))
print(timedelta(seconds=90), repr(timedelta(minutes=2, days=1)), timedelta(hours=1).total_seconds(), timedelta(seconds=5) + timedelta(seconds=6) > timedelta(seconds=10))
d = datetime.datetime(2024, 2, 29, 12, 5)
print(d, repr(d), d.isoformat(), d.strftime("%Y%m%d-%H%M%S.%f"))
print(d - datetime.datetime(2024, 2, 28), d + timedelta(days=1))
print(datetime.datetime.now() > datetime.datetime(2020, 1, 1), datetime.datetime.now().strftime("%Y").isdigit())
try: time.sleep(-1)
except Exception as e: print(type(e).__name__, e)
a = time.perf_counter(); b = time.perf_counter(); print(b >= a)
