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


class Calendar:
    def __init__(self, firstweekday=0):
        self.firstweekday = firstweekday

    def iterweekdays(self):
        for i in range(self.firstweekday, self.firstweekday + 7):
            yield i % 7

    def itermonthdates(self, year, month):
        for y, m, d in self.itermonthdays3(year, month):
            yield datetime.date(y, m, d)

    def itermonthdays(self, year, month):
        start, days = monthrange(year, month)
        before = (start - self.firstweekday) % 7
        yield from [0] * before
        yield from range(1, days + 1)
        yield from [0] * ((self.firstweekday - start - days) % 7)

    def itermonthdays2(self, year, month):
        for i, d in enumerate(self.itermonthdays(year, month),
                              self.firstweekday):
            yield d, i % 7

    def itermonthdays3(self, year, month):
        start, days = monthrange(year, month)
        first = datetime.date(year, month, 1)
        before = (start - self.firstweekday) % 7
        after = (self.firstweekday - start - days) % 7
        for i in range(-before, days + after):
            day = first + datetime.timedelta(i)
            yield day.year, day.month, day.day

    def itermonthdays4(self, year, month):
        for i, (y, m, d) in enumerate(self.itermonthdays3(year, month)):
            yield y, m, d, (self.firstweekday + i) % 7

    def _weeks(self, days):
        days = list(days)
        return [days[i:i + 7] for i in range(0, len(days), 7)]

    def monthdatescalendar(self, year, month):
        return self._weeks(self.itermonthdates(year, month))

    def monthdays2calendar(self, year, month):
        return self._weeks(self.itermonthdays2(year, month))

    def monthdayscalendar(self, year, month):
        return self._weeks(self.itermonthdays(year, month))

    def _year(self, months, width):
        return [months[i:i + width] for i in range(0, 12, width)]

    def yeardatescalendar(self, year, width=3):
        return self._year([self.monthdatescalendar(year, m)
                           for m in range(1, 13)], width)

    def yeardayscalendar(self, year, width=3):
        return self._year([self.monthdayscalendar(year, m)
                           for m in range(1, 13)], width)


class TextCalendar(Calendar):
    def formatday(self, day, weekday, width):
        return ("%2i" % day if day else "").center(width)

    def formatweek(self, theweek, width):
        return " ".join(self.formatday(d, wd, width) for d, wd in theweek)

    def formatweekday(self, day, width):
        names = day_name if width >= 9 else day_abbr
        return names[day][:width].center(width)

    def formatweekheader(self, width):
        return " ".join(self.formatweekday(i, width)
                        for i in self.iterweekdays())

    def formatmonthname(self, theyear, themonth, width, withyear=True):
        name = month_name[themonth]
        return (f"{name} {theyear!r}" if withyear else name).center(width)

    def formatmonth(self, theyear, themonth, w=0, l=0):
        w, l = max(2, w), max(1, l)
        rows = [self.formatmonthname(theyear, themonth, 7 * (w + 1) - 1),
                self.formatweekheader(w)]
        rows += [self.formatweek(week, w)
                 for week in self.monthdays2calendar(theyear, themonth)]
        return ("\n" * l).join(row.rstrip() for row in rows) + "\n" * l

    def prmonth(self, theyear, themonth, w=0, l=0):
        print(self.formatmonth(theyear, themonth, w, l), end="")

    def formatyear(self, theyear, w=2, l=1, c=6, m=3):
        w, l, c = max(2, w), max(1, l), max(2, c)
        width = (w + 1) * 7 - 1
        gap = " " * c
        out = [repr(theyear).center(width * m + c * (m - 1)).rstrip(),
               "\n" * l]
        for first in range(1, 13, m):
            months = range(first, min(first + m, 13))
            out.append("\n" * l)
            out.append(gap.join(self.formatmonthname(
                theyear, k, width, False) for k in months).rstrip())
            out.append("\n" * l)
            out.append(gap.join([self.formatweekheader(w)] * len(months)))
            out.append("\n" * l)
            weeks = [self.monthdays2calendar(theyear, k) for k in months]
            for j in range(max(map(len, weeks))):
                out.append(gap.join(
                    self.formatweek(cal[j], w) if j < len(cal) else
                    " " * width for cal in weeks).rstrip())
                out.append("\n" * l)
        return "".join(out)

    def pryear(self, theyear, w=0, l=0, c=6, m=3):
        print(self.formatyear(theyear, w, l, c, m))


def _text():
    return TextCalendar(_first[0])


def month(theyear, themonth, w=0, l=0):
    return _text().formatmonth(theyear, themonth, w, l)


def prmonth(theyear, themonth, w=0, l=0):
    _text().prmonth(theyear, themonth, w, l)


def calendar(theyear, w=2, l=1, c=6, m=3):
    return _text().formatyear(theyear, w, l, c, m)


def prcal(theyear, w=0, l=0, c=6, m=3):
    _text().pryear(theyear, w, l, c, m)


def weekheader(width):
    return _text().formatweekheader(width)


def __getattr__(name):
    if name in ("HTMLCalendar", "LocaleTextCalendar", "LocaleHTMLCalendar"):
        raise _absent.error(f"calendar.{name} is not part of dtrepl")
    raise AttributeError(f"module 'calendar' has no attribute {name!r}")
