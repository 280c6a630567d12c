# SPDX-License-Identifier: MIT
"""Configurations in TOML 1.0.  Dates are refused by name."""
import _absent
import re

__all__ = ["loads", "load", "TOMLDecodeError"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = re.compile(r"[ \t]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")
_FLOAT = re.compile(r"[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?"
                    r"(?:[eE][+-]?\d(?:_?\d)*)?")
_BASED = re.compile(r"0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*"
                    r"|0b[01](?:_?[01])*")
_SPECIAL = re.compile(r"[+-]?(?:inf|nan)")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"',
            "\\": "\\"}


class TOMLDecodeError(ValueError):
    pass


class _Parser:
    def __init__(self, text):
        self.text = text
        self.at = 0
        self.root = {}
        self.closed = set()         # paths of tables that have their header
        self.inline = set()         # ids of what braces or brackets made

    def fail(self, what):
        if self.at >= len(self.text):
            place = "end of document"
        else:
            line = self.text.count("\n", 0, self.at) + 1
            place = "line %d, column %d" % (
                line, self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1)
        raise TOMLDecodeError("%s (at %s)" % (what, place))

    def peek(self):
        return self.text[self.at:self.at + 1]

    def match(self, pattern):
        m = pattern.match(self.text, self.at)
        if m:
            self.at = m.end()
            return m.group()
        return None

    def space(self):
        self.match(_SPACE)

    def comment(self):
        if self.peek() == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def space_and_lines(self):
        while True:
            self.space()
            self.comment()
            if self.peek() != "\n":
                return
            self.at += 1

    # ---- keys ----

    def key_part(self):
        char = self.peek()
        if char == '"':
            return self.basic()
        if char == "'":
            return self.literal()
        part = self.match(_BARE)
        if part is None:
            self.fail("Invalid initial character for a key part")
        return part

    def key(self):
        parts = [self.key_part()]
        self.space()
        while self.peek() == ".":
            self.at += 1
            self.space()
            parts.append(self.key_part())
            self.space()
        return parts

    def table(self, start, parts):
        table = start
        for part in parts:
            table = table.setdefault(part, {})
            if isinstance(table, list) and id(table) not in self.inline:
                table = table[-1]
            if not isinstance(table, dict) or id(table) in self.inline:
                self.fail("Cannot overwrite a value")
        return table

    def pair(self, table):
        parts = self.key()
        if self.peek() != "=":
            self.fail("Expected '=' after a key in a key/value pair")
        self.at += 1
        self.space()
        value = self.value()
        table = self.table(table, parts[:-1])
        if parts[-1] in table:
            self.fail("Cannot overwrite a value")
        table[parts[-1]] = value

    # ---- values ----

    def value(self):
        char = self.peek()
        if char == '"':
            return self.long('"') if self.text.startswith('"""', self.at) \
                else self.basic()
        if char == "'":
            return self.long("'") if self.text.startswith("'''", self.at) \
                else self.literal()
        if char == "[":
            return self.array()
        if char == "{":
            return self.inline_table()
        for word, value in (("true", True), ("false", False)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.number()

    def number(self):
        if _DATE.match(self.text, self.at):
            raise _absent.error("tomllib: dates and times are not part "
                                "of dtrepl")
        for pattern in (_BASED, _SPECIAL, _FLOAT):
            word = self.match(pattern)
            if word:
                break
        else:
            self.fail("Invalid value")
        word = word.replace("_", "")
        if pattern is _BASED:
            return int(word, 0)
        if pattern is _SPECIAL or any(c in word for c in ".eE"):
            return float(word)
        return int(word)

    def basic(self):
        self.at += 1
        out = []
        while True:
            char = self.peek()
            if char == '"':
                self.at += 1
                return "".join(out)
            if char in ("", "\n"):
                self.fail("Unterminated string" if char == ""
                          else "Illegal character '\\n'")
            self.at += 1
            out.append(self.escape() if char == "\\" else char)

    def escape(self):
        char = self.peek()
        self.at += 1
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char in ("u", "U"):
            n = 4 if char == "u" else 8
            digits = self.text[self.at:self.at + n]
            if not re.fullmatch("[0-9A-Fa-f]{%d}" % n, digits):
                self.fail("Invalid hex value")
            self.at += n
            return chr(int(digits, 16))
        self.at -= 1
        self.fail("Unescaped '\\' in a string")

    def literal(self):
        end = self.text.find("'", self.at + 1)
        line = self.text.find("\n", self.at + 1)
        if end < 0 or 0 <= line < end:
            self.fail("Expected \"'\"")
        out = self.text[self.at + 1:end]
        self.at = end + 1
        return out

    def long(self, quote):
        self.at += 3
        if self.peek() == "\n":
            self.at += 1
        out = []
        while not self.text.startswith(quote * 3, self.at):
            char = self.peek()
            if char == "":
                self.fail("Unterminated string")
            self.at += 1
            if char == "\\" and quote == '"':
                gap = re.match(r"[ \t]*\n\s*", self.text[self.at:])
                if gap:
                    self.at += gap.end()
                    continue
                char = self.escape()
            out.append(char)
        self.at += 3
        for _ in range(2):              # quotes before the closing ones
            if self.peek() == quote:
                out.append(quote)
                self.at += 1
        return "".join(out)

    def array(self):
        out = []
        self.inline.add(id(out))
        self.at += 1
        while True:
            self.space_and_lines()
            if self.peek() == "]":
                break
            out.append(self.value())
            self.space_and_lines()
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != "]":
                self.fail("Unclosed array")
        self.at += 1
        return out

    def inline_table(self):
        out = {}
        self.at += 1
        self.space()
        if self.peek() != "}":
            while True:
                self.space()
                self.pair(out)
                self.space()
                if self.peek() != ",":
                    break
                self.at += 1
            if self.peek() != "}":
                self.fail("Unclosed inline table")
        self.at += 1
        self.inline.add(id(out))
        return out

    # ---- lines ----

    def header(self):
        several = self.text.startswith("[[", self.at)
        self.at += 2 if several else 1
        self.space()
        parts = self.key()
        close = "]]" if several else "]"
        if not self.text.startswith(close, self.at):
            self.fail("Expected '%s' at the end of %s declaration" % (
                close, "an array" if several else "a table"))
        self.at += len(close)
        above, path = self.table(self.root, parts[:-1]), tuple(parts)
        if several:
            tables = above.setdefault(parts[-1], [])
            if not isinstance(tables, list) or id(tables) in self.inline:
                self.fail("Cannot mutate immutable namespace %r" % (path,))
            tables.append({})
            self.closed = {p for p in self.closed
                           if p[:len(path)] != path}
            return tables[-1]
        if path in self.closed or isinstance(above.get(parts[-1]), list):
            self.fail("Cannot declare %r twice" % (path,))
        self.closed.add(path)
        return self.table(self.root, parts)

    def parse(self):
        table = self.root
        while True:
            self.space_and_lines()
            char = self.peek()
            if char == "":
                return self.root
            if char == "[":
                table = self.header()
            elif char in "\r=":
                self.fail("Invalid statement")
            else:
                self.pair(table)
            self.space()
            self.comment()
            if self.peek() not in ("", "\n"):
                self.fail("Expected newline or end of document after a "
                          "statement")


def loads(s, /, *, parse_float=float):
    if parse_float is not float:
        raise _absent.error("tomllib: parse_float is not part of dtrepl")
    if not isinstance(s, str):
        raise TypeError("Expected str object, not '%s'" % type(s).__name__)
    return _Parser(s.replace("\r\n", "\n")).parse()


def load(fp, /, *, parse_float=float):
    data = fp.read()
    if not isinstance(data, bytes):
        raise TypeError("File must be opened in binary mode, e.g. use "
                        "`open('foo.toml', 'rb')`")
    return loads(data.decode(), parse_float=parse_float)
