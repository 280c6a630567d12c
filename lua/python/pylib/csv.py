# SPDX-License-Identifier: MIT
"""Tables as text with separators: readers and writers of rows."""

QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = range(4)


class Error(Exception):
    pass


class Dialect:
    delimiter = ","
    quotechar = '"'
    escapechar = None
    doublequote = True
    skipinitialspace = False
    lineterminator = "\r\n"
    quoting = QUOTE_MINIMAL
    strict = False


class excel(Dialect):
    pass


class excel_tab(excel):
    delimiter = "\t"


class unix_dialect(Dialect):
    lineterminator = "\n"
    quoting = QUOTE_ALL


_dialects = {"excel": excel, "excel-tab": excel_tab, "unix": unix_dialect}
_OPTIONS = ("delimiter", "quotechar", "escapechar", "doublequote",
            "skipinitialspace", "lineterminator", "quoting", "strict")


def _settings(dialect, options):
    if isinstance(dialect, str):
        dialect = get_dialect(dialect)
    out = Dialect()
    for name in _OPTIONS:
        setattr(out, name, getattr(dialect, name))
    for name, value in options.items():
        if name not in _OPTIONS:
            raise TypeError("'%s' is an invalid keyword argument for this "
                            "function" % name)
        setattr(out, name, value)
    if not isinstance(out.delimiter, str) or len(out.delimiter) != 1:
        raise TypeError('"delimiter" must be a 1-character string')
    if out.quotechar is not None and len(out.quotechar) != 1:
        raise TypeError('"quotechar" must be a 1-character string')
    if out.quotechar is None and out.quoting != QUOTE_NONE:
        raise TypeError("quotechar must be set if quoting enabled")
    return out


def register_dialect(name, dialect=excel, **options):
    _dialects[name] = _settings(dialect, options)


def unregister_dialect(name):
    get_dialect(name)
    del _dialects[name]


def get_dialect(name):
    if name not in _dialects:
        raise Error("unknown dialect")
    return _dialects[name]


def list_dialects():
    return list(_dialects)


class _Reader:
    def __init__(self, lines, dialect):
        self._lines = iter(lines)
        self.dialect = dialect
        self.line_num = 0

    def __iter__(self):
        return self

    def _line(self):
        line = next(self._lines)
        if not isinstance(line, str):
            raise Error("iterator should return strings, not %s (the file "
                        "should be opened in text mode)" % type(line).__name__)
        self.line_num += 1
        return line

    def _value(self, field, quoted):
        if self.dialect.quoting == QUOTE_NONNUMERIC and not quoted:
            return float(field)
        return field

    def __next__(self):
        d = self.dialect
        quote = None if d.quoting == QUOTE_NONE else d.quotechar
        row, field = [], []
        quoted = inside = False         # this field is; we are between quotes
        line, i = self._line(), 0
        if line.rstrip("\r\n") == "":
            return row
        while True:
            if i >= len(line) or not inside and line[i] in "\r\n":
                if not inside:
                    row.append(self._value("".join(field), quoted))
                    return row
                try:
                    line, i = self._line(), 0
                except StopIteration:
                    if d.strict:
                        raise Error("unexpected end of data") from None
                    row.append("".join(field))
                    return row
                continue
            char = line[i]
            i += 1
            if d.escapechar is not None and char == d.escapechar:
                if i < len(line):
                    field.append(line[i])
                    i += 1
            elif inside:
                if char != quote:
                    field.append(char)
                elif d.doublequote and line[i:i + 1] == quote:
                    field.append(quote)
                    i += 1
                else:
                    inside = False
            elif char == d.delimiter:
                row.append(self._value("".join(field), quoted))
                field, quoted = [], False
            elif char == quote and not field and not quoted:
                inside = quoted = True
            elif char == " " and d.skipinitialspace and not field \
                    and not quoted:
                pass
            elif quoted and d.strict:
                raise Error("'%s' expected after '%s'" % (d.delimiter, quote))
            else:
                field.append(char)


def reader(csvfile, dialect="excel", **fmtparams):
    return _Reader(csvfile, _settings(dialect, fmtparams))


class _Writer:
    def __init__(self, file, dialect):
        if not hasattr(file, "write"):
            raise TypeError('argument 1 must have a "write" method')
        self._write = file.write
        self.dialect = dialect

    def _field(self, value, alone):
        d = self.dialect
        text = "" if value is None else str(value)
        special = d.delimiter + "\r\n" + d.lineterminator + (d.quotechar or "")
        if d.escapechar is not None:
            special = special + d.escapechar
        number = isinstance(value, (int, float))
        # What is escaped needs no quotes around it.
        apart = (d.escapechar or "") + (
            "" if d.doublequote else d.quotechar or "")
        quoted = (d.quoting == QUOTE_ALL
                  or d.quoting == QUOTE_NONNUMERIC and not number
                  or d.quoting != QUOTE_NONE
                  and (any(c in special and c not in apart for c in text)
                       or alone and not text))
        if d.quoting == QUOTE_NONE:
            if alone and not text:
                raise Error("single empty field record must be quoted")
            out = ""
            for char in text:
                if char in special:
                    if d.escapechar is None:
                        raise Error("need to escape, but no escapechar set")
                    out = out + d.escapechar
                out = out + char
            return out
        if d.escapechar is not None:
            text = text.replace(d.escapechar, d.escapechar * 2)
        if d.doublequote:
            text = text.replace(d.quotechar, d.quotechar * 2)
        elif d.quotechar in text:
            if d.escapechar is None:
                raise Error("need to escape, but no escapechar set")
            text = text.replace(d.quotechar, d.escapechar + d.quotechar)
        return d.quotechar + text + d.quotechar if quoted else text

    def writerow(self, row):
        try:
            row = list(row)
        except TypeError:
            raise Error("iterable expected, not "
                        + type(row).__name__) from None
        fields = [self._field(value, len(row) == 1) for value in row]
        return self._write(self.dialect.delimiter.join(fields)
                           + self.dialect.lineterminator)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


def writer(csvfile, dialect="excel", **fmtparams):
    return _Writer(csvfile, _settings(dialect, fmtparams))


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None,
                 dialect="excel", *args, **kwds):
        if fieldnames is not None:
            fieldnames = list(fieldnames)
        self._fieldnames = fieldnames
        self.restkey = restkey
        self.restval = restval
        self.reader = reader(f, dialect, *args, **kwds)
        self.dialect = dialect

    @property
    def line_num(self):
        return self.reader.line_num

    @property
    def fieldnames(self):
        if self._fieldnames is None:
            self._fieldnames = next(self.reader, None)
        return self._fieldnames

    @fieldnames.setter
    def fieldnames(self, value):
        self._fieldnames = value

    def __iter__(self):
        return self

    def __next__(self):
        names = self.fieldnames
        row = next(self.reader)
        while row == []:
            row = next(self.reader)
        out = dict(zip(names, row))
        if len(row) > len(names):
            out[self.restkey] = row[len(names):]
        for name in names[len(row):]:
            out[name] = self.restval
        return out


class DictWriter:
    def __init__(self, f, fieldnames, restval="", extrasaction="raise",
                 dialect="excel", *args, **kwds):
        self.fieldnames = list(fieldnames)
        self.restval = restval
        extrasaction = extrasaction.lower()
        if extrasaction not in ("raise", "ignore"):
            raise ValueError("extrasaction (%s) must be 'raise' or 'ignore'"
                             % extrasaction)
        self.extrasaction = extrasaction
        self.writer = writer(f, dialect, *args, **kwds)

    def _row(self, rowdict):
        if self.extrasaction == "raise":
            wrong = [k for k in rowdict if k not in self.fieldnames]
            if wrong:
                raise ValueError("dict contains fields not in fieldnames: "
                                 + ", ".join([repr(k) for k in wrong]))
        return [rowdict.get(k, self.restval) for k in self.fieldnames]

    def writeheader(self):
        return self.writerow(dict(zip(self.fieldnames, self.fieldnames)))

    def writerow(self, rowdict):
        return self.writer.writerow(self._row(rowdict))

    def writerows(self, rowdicts):
        return self.writer.writerows(map(self._row, rowdicts))


class Sniffer:
    """Guesses the separator of a table, and whether it has a header."""

    def __init__(self):
        self.preferred = [",", "\t", ";", " ", ":"]

    def sniff(self, sample, delimiters=None):
        quote, sep, skips = self._quoted(sample, delimiters)
        doubled = False
        if not sep:
            sep, skips = self._guess(sample, delimiters)
        if not sep:
            raise Error("Could not determine delimiter")
        if quote:
            doubled = quote * 2 in sample

        class dialect(Dialect):
            _name = "sniffed"
            lineterminator = "\r\n"
            quoting = QUOTE_MINIMAL
        dialect.doublequote = doubled
        dialect.delimiter = sep
        dialect.quotechar = quote or '"'
        dialect.skipinitialspace = skips
        return dialect

    def _quoted(self, sample, delimiters):
        import re
        for form in (r"(?P<delim>[^\w\n\"\'])(?P<space> ?)(?P<quote>[\"\'])"
                     r".*?(?P=quote)(?P=delim)",
                     r"(?:^|\n)(?P<quote>[\"\']).*?(?P=quote)"
                     r"(?P<delim>[^\w\n\"\'])(?P<space> ?)",
                     r"(?P<delim>[^\w\n\"\'])(?P<space> ?)(?P<quote>[\"\'])"
                     r".*?(?P=quote)(?:$|\n)"):
            found = list(re.finditer(form, sample, re.DOTALL | re.MULTILINE))
            if found:
                break
        else:
            return "", None, False
        quotes, seps, spaces = {}, {}, 0
        for m in found:
            quotes[m["quote"]] = quotes.get(m["quote"], 0) + 1
            if delimiters is None or m["delim"] in delimiters:
                seps[m["delim"]] = seps.get(m["delim"], 0) + 1
            spaces += len(m["space"])
        sep = max(seps, key=seps.get) if seps else None
        return max(quotes, key=quotes.get), sep, bool(
            sep and seps[sep] == spaces)

    def _guess(self, sample, delimiters):
        lines = [line for line in sample.split("\n") if line]
        steady = {}
        for code in range(127):
            c = chr(code)
            if c.isalnum() or delimiters is not None and c not in delimiters:
                continue
            counts = [line.count(c) for line in lines]
            most = max(set(counts), key=counts.count) if counts else 0
            if most and counts.count(most) == len(lines):
                steady[c] = most
        if len(steady) > 1:
            for c in self.preferred:
                if c in steady:
                    steady = {c: steady[c]}
                    break
        if not steady:
            return "", False
        sep = max(steady, key=steady.get)
        skips = lines[0].count(sep) == lines[0].count(sep + " ")
        return sep, skips

    def has_header(self, sample):
        import io
        rows = reader(io.StringIO(sample), self.sniff(sample))
        header = next(rows)
        kinds = dict.fromkeys(range(len(header)))
        for i, row in enumerate(rows):
            if i > 20:
                break
            if len(row) != len(header):
                continue
            for col in list(kinds):
                try:
                    complex(row[col])
                    kind = complex
                except (ValueError, OverflowError):
                    kind = len(row[col])
                if kinds[col] is None:
                    kinds[col] = kind
                elif kinds[col] != kind:
                    del kinds[col]
        votes = 0
        for col, kind in kinds.items():
            if isinstance(kind, int):
                votes += 1 if len(header[col]) != kind else -1
            else:
                try:
                    kind(header[col])
                    votes -= 1
                except (ValueError, TypeError):
                    votes += 1
        return votes > 0


_limit = [131072]


def field_size_limit(new_limit=None):
    old = _limit[0]
    if new_limit is not None:
        if not isinstance(new_limit, int):
            raise TypeError("limit must be an integer")
        _limit[0] = new_limit
    return old
