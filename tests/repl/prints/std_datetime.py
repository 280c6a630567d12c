# SPDX-License-Identifier: MIT
from datetime import datetime, timedelta, date, timezone, time as dtime
import time
d = datetime(2024, 2, 29, 13, 5, 6, 7)
print(d, repr(d), d.isoformat(), d.strftime("%Y-%m-%d_%H:%M:%S.%f %a %b %j %p %I"), d.date(), d.time(), d.weekday(), d.isocalendar())
print(d + timedelta(days=1, hours=2), d - datetime(2023, 1, 1), timedelta(seconds=100000), repr(timedelta(1, 2, 3)), timedelta(hours=5).total_seconds(), timedelta(days=-1))
print(datetime.strptime("2024-01-02 03:04", "%Y-%m-%d %H:%M"), datetime.fromisoformat("2024-01-02T03:04:05"), datetime.fromtimestamp(0, tz=timezone.utc), datetime(2024,1,1,tzinfo=timezone.utc).timestamp())
print(date(2024, 1, 31) + timedelta(1), date.fromisoformat("2024-05-06"), date(2024,1,1) < date(2024,1,2), d.replace(year=2020), date(2024,3,1).strftime("%d/%m/%y"), timedelta(minutes=90) / 2, timedelta(1) // timedelta(hours=5), timedelta(3)%timedelta(2))
print(str(timedelta(days=2, hours=3, milliseconds=5)), dtime(1, 2), f"{d:%H:%M}", timezone(timedelta(hours=2)), datetime(2024,1,1,tzinfo=timezone(timedelta(hours=2))).isoformat())
print(time.strftime("%Y", time.gmtime(0)), time.gmtime(0).tm_year, time.strftime("%H:%M:%S", time.gmtime(3661)))
t = time.perf_counter(); assert time.perf_counter() >= t; assert abs(datetime.now().timestamp() - time.time()) < 2
try: datetime(2024, 13, 1)
except ValueError as e: print(e)
try: datetime.strptime("x", "%Y")
except ValueError as e: print(e)
print(divmod(timedelta(5), timedelta(2)), abs(timedelta(-1)), max(date(2024,1,1), date(2025,1,1)), datetime.min, d.timetuple().tm_yday, d.ctime())
