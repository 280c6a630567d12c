# SPDX-License-Identifier: MIT
"""json: values as text and back, in CPython's words."""
import _json
import re


class JSONDecodeError(ValueError):
    __module__ = "json.decoder"

    def __init__(self, msg, doc, pos):
        lineno = doc.count("\n", 0, pos) + 1
        colno = pos - doc.rfind("\n", 0, pos)
        ValueError.__init__(self, f"{msg}: line {lineno} column {colno} "
                            f"(char {pos})")
        self.msg, self.doc, self.pos = msg, doc, pos
        self.lineno, self.colno = lineno, colno


# ---- writing ----

class JSONEncoder:
    item_separator = ", "
    key_separator = ": "

    def __init__(self, *, skipkeys=False, ensure_ascii=True,
                 check_circular=True, allow_nan=True, sort_keys=False,
                 indent=None, separators=None, default=None):
        self.skipkeys, self.ensure_ascii = skipkeys, ensure_ascii
        self.check_circular, self.allow_nan = check_circular, allow_nan
        self.sort_keys = sort_keys
        self.indent = " " * indent if type(indent) is int else indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default

    def default(self, o):
        raise TypeError(f"Object of type {type(o).__name__} is not JSON "
                        "serializable")

    def encode(self, o):
        return _json.dumps(self, o)

    def iterencode(self, o):
        yield self.encode(o)


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True,
          allow_nan=True, cls=None, indent=None, separators=None, default=None,
          sort_keys=False, **kw):
    return (cls or JSONEncoder)(
        skipkeys=skipkeys, ensure_ascii=ensure_ascii,
        check_circular=check_circular, allow_nan=allow_nan, indent=indent,
        separators=separators, default=default, sort_keys=sort_keys,
        **kw).encode(obj)


def dump(obj, fp, **kw):
    fp.write(dumps(obj, **kw))


# ---- reading ----

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_CHUNK = re.compile(r'[^"\\\x00-\x1f]*')
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n",
            "r": "\r", "t": "\t"}
_WORDS = {"null": None, "true": True, "false": False}
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"),
              "-Infinity": float("-inf")}


class JSONDecoder:
    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None,
                 parse_constant=None, strict=True, object_pairs_hook=None):
        self.object_hook, self.strict = object_hook, strict
        self.object_pairs_hook = object_pairs_hook
        self.parse_float = parse_float or float
        self.parse_int = parse_int or int
        self.parse_constant = parse_constant or _CONSTANTS.__getitem__

    def _plain(self):
        return self.strict and self.object_hook is None \
            and self.object_pairs_hook is None and self.parse_int is int \
            and self.parse_float is float

    def decode(self, s):
        # The fast way, in C, answers where the text is right and no hook
        # looks at it; else the slow one says what is wrong, and where.
        if self._plain():
            found, value = _json.loads(s)
            if found:
                return value
        value, end = self.raw_decode(s, _SPACE.match(s, 0).end())
        end = _SPACE.match(s, end).end()
        if end != len(s):
            raise JSONDecodeError("Extra data", s, end)
        return value

    def raw_decode(self, s, idx=0):
        """A value that begins at idx, and where it ends."""
        c = s[idx:idx + 1]
        if c == '"':
            return self._string(s, idx + 1)
        if c == "{":
            return self._object(s, idx + 1)
        if c == "[":
            return self._array(s, idx + 1)
        for word, value in _WORDS.items():
            if s.startswith(word, idx):
                return value, idx + len(word)
        found = _NUMBER.match(s, idx)
        if found:
            whole, fraction, power = found.groups()
            if fraction or power:
                return self.parse_float(found.group()), found.end()
            return self.parse_int(whole), found.end()
        for word in _CONSTANTS:
            if s.startswith(word, idx):
                return self.parse_constant(word), idx + len(word)
        raise JSONDecodeError("Expecting value", s, idx)

    def _unicode(self, s, at):
        """The code behind \\u at `at`."""
        found = _HEX.match(s, at + 1)
        if not found:
            raise JSONDecodeError("Invalid \\uXXXX escape", s, at)
        return int(found.group(), 16)

    def _string(self, s, at):
        begin, out = at - 1, []
        while True:
            chunk = _CHUNK.match(s, at)
            out.append(chunk.group())
            at = chunk.end()
            c = s[at:at + 1]
            if c == "":
                raise JSONDecodeError("Unterminated string starting at", s,
                                      begin)
            if c == '"':
                return "".join(out), at + 1
            if c != "\\":
                if self.strict:
                    raise JSONDecodeError("Invalid control character at", s,
                                          at)
                out.append(c)
                at += 1
                continue
            at += 1
            c = s[at:at + 1]
            if c == "":
                raise JSONDecodeError("Unterminated string starting at", s,
                                      begin)
            if c == "u":
                code = self._unicode(s, at)
                at += 5
                if 0xd800 <= code <= 0xdbff and s.startswith("\\u", at):
                    low = self._unicode(s, at + 1)
                    if 0xdc00 <= low <= 0xdfff:
                        code = 0x10000 + ((code - 0xd800) << 10) \
                            + (low - 0xdc00)
                        at += 6
                out.append(chr(code))
            elif c in _ESCAPED:
                out.append(_ESCAPED[c])
                at += 1
            else:
                raise JSONDecodeError("Invalid \\escape", s, at - 1)

    def _array(self, s, at):
        values = []
        at = _SPACE.match(s, at).end()
        if s[at:at + 1] == "]":
            return values, at + 1
        while True:
            value, at = self.raw_decode(s, at)
            values.append(value)
            at = _SPACE.match(s, at).end()
            c = s[at:at + 1]
            if c == "]":
                return values, at + 1
            if c != ",":
                raise JSONDecodeError("Expecting ',' delimiter", s, at)
            at = _SPACE.match(s, at + 1).end()

    def _object(self, s, at):
        pairs = []
        at = _SPACE.match(s, at).end()
        if s[at:at + 1] == "}":
            return self._made(pairs), at + 1
        while True:
            if s[at:at + 1] != '"':
                raise JSONDecodeError(
                    "Expecting property name enclosed in double quotes", s, at)
            key, at = self._string(s, at + 1)
            at = _SPACE.match(s, at).end()
            if s[at:at + 1] != ":":
                raise JSONDecodeError("Expecting ':' delimiter", s, at)
            at = _SPACE.match(s, at + 1).end()
            value, at = self.raw_decode(s, at)
            pairs.append((key, value))
            at = _SPACE.match(s, at).end()
            c = s[at:at + 1]
            if c == "}":
                return self._made(pairs), at + 1
            if c != ",":
                raise JSONDecodeError("Expecting ',' delimiter", s, at)
            at = _SPACE.match(s, at + 1).end()

    def _made(self, pairs):
        if self.object_pairs_hook is not None:
            return self.object_pairs_hook(pairs)
        value = dict(pairs)
        return self.object_hook(value) if self.object_hook else value


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None,
          parse_constant=None, object_pairs_hook=None, **kw):
    if isinstance(s, (bytes, bytearray)):
        s = s.decode("utf-8")
    elif not isinstance(s, str):
        raise TypeError("the JSON object must be str, bytes or bytearray, not "
                        + type(s).__name__)
    return (cls or JSONDecoder)(
        object_hook=object_hook, parse_float=parse_float, parse_int=parse_int,
        parse_constant=parse_constant, object_pairs_hook=object_pairs_hook,
        **kw).decode(s)


def load(fp, **kw):
    return loads(fp.read(), **kw)
