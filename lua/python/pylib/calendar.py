# SPDX-License-Identifier: MIT
"""calendar: the days of months and years."""
import _absent
import datetime

(MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY) = range(7)
_MONTHS = ("January February March April May June July August September "
           "October November December").split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
day_name, day_abbr = list(_DAYS), [d[:3] for d in _DAYS]
month_name = [""] + _MONTHS
month_abbr = [""] + [m[:3] for m in _MONTHS]
mdays = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
_first = [0]


class IllegalMonthError(ValueError):
    def __init__(self, month):
        self.month = month

    def __str__(self):
        return "bad month number %r; must be 1-12" % self.month


def isleap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def leapdays(y1, y2):
    y1, y2 = y1 - 1, y2 - 1
    return (y2 // 4 - y1 // 4) - (y2 // 100 - y1 // 100) + (
        y2 // 400 - y1 // 400)


def weekday(year, month, day):
    return datetime.date(year, month, day).weekday()


def monthrange(year, month):
    if not 1 <= month <= 12:
        raise IllegalMonthError(month)
    return weekday(year, month, 1), mdays[month] + (month == 2 and isleap(year))


def setfirstweekday(firstweekday):
    _first[0] = firstweekday


def firstweekday():
    return _first[0]


def timegm(tuple):
    year, month, day, hour, minute, second = tuple[:6]
    days = datetime.date(year, month, 1).toordinal() - datetime.date(
        1970, 1, 1).toordinal() + day - 1
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def monthcalendar(year, month):
    start, days = monthrange(year, month)
    row = [0] * ((start - _first[0]) % 7) + list(range(1, days + 1))
    row += [0] * (-len(row) % 7)
    return [row[i:i + 7] for i in range(0, len(row), 7)]


def month(theyear, themonth, w=0, l=0):
    w, l = max(2, w), max(1, l)
    order = [(_first[0] + i) % 7 for i in range(7)]
    names = _DAYS if w >= 9 else day_abbr
    rows = [f"{_MONTHS[themonth - 1]} {theyear!r}".center(
        w * 7 + 6).rstrip(),
        " ".join(names[i][:w].center(w) for i in order).rstrip()]
    for week in monthcalendar(theyear, themonth):
        rows.append(" ".join(("%2i" % d if d else "").center(w)
                             for d in week).rstrip())
    return ("\n" * l).join(rows) + "\n" * l


def __getattr__(name):
    if name in ("Calendar", "TextCalendar", "HTMLCalendar", "calendar",
                "prcal", "prmonth"):
        raise _absent.error(f"calendar.{name} is not part of dtrepl")
    raise AttributeError(f"module 'calendar' has no attribute {name!r}")
