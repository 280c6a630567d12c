# SPDX-License-Identifier: MIT
"""re: regular expressions.  _regex (python/std/regex.lua) reads patterns by
CPython's rules and matches them; here are the objects and functions."""
import _regex
import enum


class RegexFlag(enum.IntFlag):
    NOFLAG = 0
    ASCII = A = 256
    IGNORECASE = I = 2
    LOCALE = L = 4
    UNICODE = U = 32
    MULTILINE = M = 8
    DOTALL = S = 16
    VERBOSE = X = 64

    def __repr__(self):
        names = [name for name, letter, bit in _FLAGS if self & bit]
        if not names:
            return "re.NOFLAG"
        return "|".join("re." + name for name in names)

    __str__ = __repr__


# In the order in which CPython's repr names them.
_FLAGS = [("IGNORECASE", "i", 2), ("LOCALE", "L", 4), ("MULTILINE", "m", 8),
          ("DOTALL", "s", 16), ("UNICODE", "u", 32), ("VERBOSE", "x", 64),
          ("ASCII", "a", 256)]
NOFLAG = RegexFlag.NOFLAG
A = ASCII = RegexFlag.ASCII
I = IGNORECASE = RegexFlag.IGNORECASE
L = LOCALE = RegexFlag.LOCALE
U = UNICODE = RegexFlag.UNICODE
M = MULTILINE = RegexFlag.MULTILINE
S = DOTALL = RegexFlag.DOTALL
X = VERBOSE = RegexFlag.VERBOSE


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        self.msg, self.pattern, self.pos = msg, pattern, pos
        self.lineno = self.colno = None
        text = msg
        if pattern is not None and pos is not None:
            text = f"{msg} at position {pos}"
            newline = "\n" if isinstance(pattern, str) else b"\n"
            self.lineno = pattern.count(newline, 0, pos) + 1
            self.colno = pos - pattern.rfind(newline, 0, pos)
            if newline in pattern:
                text = f"{text} (line {self.lineno}, column {self.colno})"
        Exception.__init__(self, text)


class Match:
    """Where a pattern matched: _at has the first and last place of every
    group, and the group that was closed last."""
    __slots__ = ("re", "string", "pos", "endpos", "_at")

    def __init__(self, re, string, pos, endpos, at):
        self.re, self.string, self.pos, self.endpos = re, string, pos, endpos
        self._at = at

    def _number(self, group):
        n = self.re.groupindex.get(group, group) \
            if isinstance(group, str) else group
        if not isinstance(n, int) or not 0 <= n <= self.re.groups:
            raise IndexError("no such group")
        return n

    def _text(self, n, default=None):
        first = self._at[2 * n]
        return default if first < 0 else self.string[first:self._at[2 * n + 1]]

    def group(self, *groups):
        if not groups:
            return self._text(0)
        if len(groups) == 1:
            return self._text(self._number(groups[0]))
        return tuple([self._text(self._number(g)) for g in groups])

    def __getitem__(self, group):
        return self._text(self._number(group))

    def groups(self, default=None):
        return tuple([self._text(n + 1, default)
                      for n in range(self.re.groups)])

    def groupdict(self, default=None):
        return {name: self._text(n, default)
                for name, n in self.re.groupindex.items()}

    def start(self, group=0):
        return self._at[2 * self._number(group)]

    def end(self, group=0):
        return self._at[2 * self._number(group) + 1]

    def span(self, group=0):
        return self.start(group), self.end(group)

    def expand(self, template):
        return _fill(_read_template(template, self.re), self)

    @property
    def regs(self):
        return tuple([self.span(n) for n in range(self.re.groups + 1)])

    @property
    def lastindex(self):
        return self._at[-1]

    @property
    def lastgroup(self):
        for name, n in self.re.groupindex.items():
            if n == self._at[-1]:
                return name
        return None

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<re.Match object; span={self.span()}, " \
            f"match={self._text(0)!r}>"


class Pattern:
    __slots__ = ("pattern", "flags", "groups", "groupindex", "_handle")

    def __init__(self, pattern, flags, groups, groupindex, handle):
        self.pattern, self.flags, self.groups = pattern, flags, groups
        self.groupindex, self._handle = groupindex, handle

    def _check(self, string):
        if isinstance(string, str):
            if not isinstance(self.pattern, str):
                raise TypeError("cannot use a bytes pattern on a string-like "
                                "object")
        elif not isinstance(string, (bytes, bytearray)):
            raise TypeError("expected string or bytes-like object, got "
                            f"'{type(string).__name__}'")
        elif isinstance(self.pattern, str):
            raise TypeError("cannot use a string pattern on a bytes-like "
                            "object")

    def _one(self, string, pos, endpos, how):
        self._check(string)
        n = len(string)
        pos = min(max(pos, 0), n)
        endpos = n if endpos is None else min(max(endpos, 0), n)
        if pos > endpos:
            return None
        at = _regex.search(self._handle, string, pos, endpos, how)
        return at and Match(self, string, pos, endpos, at)

    def search(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, "")

    def match(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, "a")

    def fullmatch(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, "aw")

    def _all(self, string, pos, endpos, count=0):
        """Where it matches, again and again: what begins at the end of an
        empty match must not be empty."""
        self._check(string)
        n = len(string)
        pos = min(max(pos, 0), n)
        endpos = n if endpos is None else min(max(endpos, 0), n)
        how, done = "", 0
        while pos <= endpos and not 0 < count <= done:
            at = _regex.search(self._handle, string, pos, endpos, how)
            if at is None:
                return
            yield at
            done += 1
            how = "n" if at[0] == at[1] else ""
            pos = at[1]

    def finditer(self, string, pos=0, endpos=None):
        self._check(string)
        last = len(string) if endpos is None else min(endpos, len(string))
        return (Match(self, string, pos, last, at)
                for at in self._all(string, pos, endpos))

    def findall(self, string, pos=0, endpos=None):
        empty = string[:0]
        if self.groups <= 1:
            a, b = 2 * self.groups, 2 * self.groups + 1
            return [string[at[a]:at[b]] if at[a] >= 0 else empty
                    for at in self._all(string, pos, endpos)]
        return [tuple([string[at[a]:at[a + 1]] if at[a] >= 0 else empty
                       for a in range(2, 2 * self.groups + 2, 2)])
                for at in self._all(string, pos, endpos)]

    def split(self, string, maxsplit=0):
        parts, last = [], 0
        if maxsplit < 0:
            return [string]
        for at in self._all(string, 0, None, maxsplit):
            parts.append(string[last:at[0]])
            for a in range(2, 2 * self.groups + 2, 2):
                parts.append(string[at[a]:at[a + 1]] if at[a] >= 0 else None)
            last = at[1]
        parts.append(string[last:])
        return parts

    def subn(self, repl, string, count=0):
        self._check(string)
        if callable(repl):
            by = repl
        else:
            template = _read_template(repl, self)
            if len(template) == 1 and not isinstance(template[0], int):
                by = lambda match: template[0]
            else:
                by = lambda match: _fill(template, match)
        parts, last, done = [], 0, 0
        if count >= 0:
            for at in self._all(string, 0, None, count):
                parts.append(string[last:at[0]])
                parts.append(by(Match(self, string, 0, len(string), at)))
                last, done = at[1], done + 1
        parts.append(string[last:])
        return string[:0].join(parts), done

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def __eq__(self, other):
        if not isinstance(other, Pattern):
            return NotImplemented
        return (self.pattern, self.flags) == (other.pattern, other.flags)

    def __hash__(self):
        return hash((self.pattern, self.flags))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        flags = self.flags
        if isinstance(self.pattern, str):
            flags &= ~32
        names = ["re." + name for name, letter, bit in _FLAGS if flags & bit]
        text = repr(self.pattern)[:200]
        return f"re.compile({text}{', ' if names else ''}{'|'.join(names)})"


# ---- templates of sub: texts and numbers of groups ----

_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
            "v": "\v", "\\": "\\"}
_DIGITS, _OCTAL = "0123456789", "01234567"


def _group_of(name, pattern, template, at):
    """The group that \\g<name> means; `at`: where its name begins."""
    if not name:
        raise error("missing group name", template, at)
    if all(c in _DIGITS for c in name):
        n = int(name)
        if n > pattern.groups:
            raise error(f"invalid group reference {n}", template, at)
        return n
    if not name.isidentifier():
        raise error(f"bad character in group name {name!r}", template, at)
    if name not in pattern.groupindex:
        raise IndexError(f"unknown group name {name!r}")
    return pattern.groupindex[name]


def _numbered(text, at, pattern, template):
    """\\1, \\12, \\0, \\123: a group or a character, and where it ends."""
    more = text[at + 1:at + 3]
    if text[at] == "0" or len(more) == 2 and text[at] in "0123" \
            and more[0] in _OCTAL and more[1] in _OCTAL:
        end = at + 1
        while end < min(at + 3, len(text)) and text[end] in _OCTAL:
            end += 1
        return chr(int(text[at:end], 8)), end
    end = at + 2 if more[:1] and more[0] in _DIGITS else at + 1
    n = int(text[at:end])
    if n > pattern.groups:
        raise error(f"invalid group reference {n}", template, at)
    return n, end


def _escaped(text, at, pattern, template):
    """What the backslash before `at` begins, and where it ends."""
    c = text[at:at + 1]
    if c == "":
        raise error("bad escape (end of pattern)", template, at - 1)
    if c == "g":
        if text[at + 1:at + 2] != "<":
            raise error("missing <", template, at + 1)
        end = text.find(">", at + 2)
        if end < 0:
            what = "missing group name" if at + 2 == len(text) \
                else "missing >, unterminated name"
            raise error(what, template, at + 2)
        return _group_of(text[at + 2:end], pattern, template, at + 2), end + 1
    if c in _DIGITS:
        return _numbered(text, at, pattern, template)
    if c in _ESCAPES:
        return _ESCAPES[c], at + 1
    if c.isascii() and c.isalpha():
        raise error(f"bad escape \\{c}", template, at - 1)
    return "\\" + c, at + 1


def _read_template(template, pattern):
    binary = not isinstance(template, str)
    text = template.decode("latin-1") if binary else template
    parts, literal, at = [], "", 0
    while True:
        stop = text.find("\\", at)
        if stop < 0:
            break
        literal += text[at:stop]
        value, at = _escaped(text, stop + 1, pattern, template)
        if isinstance(value, int):
            parts += [literal, value]
            literal = ""
        else:
            literal += value
    parts.append(literal + text[at:])
    if binary:
        return [x if isinstance(x, int) else x.encode("latin-1")
                for x in parts]
    return parts


def _fill(template, match):
    empty = match.string[:0]
    return empty.join([match._text(x, empty) if isinstance(x, int) else x
                       for x in template])


# ---- functions ----

_cache = {}
_MOST_CACHED = 512


def _letters(flags):
    return "".join([letter for name, letter, bit in _FLAGS if flags & bit])


def _flags_of(letters, binary):
    flags = sum([bit for name, letter, bit in _FLAGS if letter in letters])
    return flags if binary or flags & 256 else flags | 32


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled "
                             "pattern")
        return pattern
    key = type(pattern), pattern, int(flags)
    made = _cache.get(key)
    if made is None:
        made = _compiled(pattern, int(flags))
        if len(_cache) >= _MOST_CACHED:
            _cache.clear()
        _cache[key] = made
    return made


def _compiled(pattern, flags):
    binary = isinstance(pattern, bytes)
    if not binary and not isinstance(pattern, str):
        raise TypeError("first argument must be string or compiled pattern")
    if not binary and flags & 4:
        raise ValueError("cannot use LOCALE flag with a str pattern")
    if binary and flags & 32:
        raise ValueError("cannot use UNICODE flag with a bytes pattern")
    if flags & 256 and flags & 32:
        raise ValueError("ASCII and UNICODE flags are incompatible")
    handle, *facts = _regex.compile(pattern, _letters(flags))
    if handle is None:
        raise error(facts[0], pattern, facts[1])
    groups, names, letters = facts
    return Pattern(pattern, _flags_of(letters, binary), groups, names, handle)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def purge():
    _cache.clear()


_SPECIAL = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f"


def escape(pattern):
    if isinstance(pattern, str):
        return "".join(["\\" + c if c in _SPECIAL else c for c in pattern])
    text = str(pattern, "latin-1")
    return escape(text).encode("latin-1")


class Scanner:
    """scan(text): what each phrase's action makes of its matches, in turn."""

    def __init__(self, lexicon, flags=0):
        self.lexicon = lexicon
        self._phrases = [(compile(phrase, flags), action)
                         for phrase, action in lexicon]
        self.match = None

    def _next(self, string, at):
        for phrase, action in self._phrases:
            found = phrase.match(string, at)
            if found:
                return found, action
        return None, None

    def scan(self, string):
        result, at = [], 0
        while True:
            self.match, action = self._next(string, at)
            if self.match is None or self.match.end() == at:
                return result, string[at:]
            if callable(action):
                action = action(self, self.match.group())
            if action is not None:
                result.append(action)
            at = self.match.end()
