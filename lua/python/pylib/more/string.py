# SPDX-License-Identifier: MIT
"""string: templates with $names, and str.format by steps."""
import re
from collections import ChainMap


class Template:
    delimiter = "$"
    idpattern = "[_a-z][_a-z0-9]*"
    braceidpattern = None
    flags = re.IGNORECASE

    def __init_subclass__(cls):
        super().__init_subclass__()
        _compile_pattern(cls)

    def __init__(self, template):
        self.template = template

    def _refuse(self, match):
        before = self.template[:match.start("invalid")]
        lines = before.splitlines(keepends=True)
        line = len(lines) or 1
        column = len(before) - len("".join(lines[:-1])) if lines else 1
        raise ValueError("Invalid placeholder in string: line %d, col %d"
                         % (line, column))

    def _unknown(self):
        return ValueError("Unrecognized named group in pattern", self.pattern)

    def _filled(self, mapping, kws, missing, invalid):
        """The template with its names replaced; missing(match) and
        invalid(match) say what stands for the others."""
        mapping = ChainMap(kws, mapping) if kws and mapping else kws or mapping

        def text_of(match):
            name = match.group("named") or match.group("braced")
            if name is not None:
                try:
                    return str((mapping or {})[name])
                except KeyError:
                    return missing(match)
            if match.group("escaped") is not None:
                return self.delimiter
            if match.group("invalid") is not None:
                return invalid(match)
            raise self._unknown()
        return self.pattern.sub(text_of, self.template)

    def substitute(self, mapping=(), /, **kws):
        def missing(match):
            raise KeyError(match.group("named") or match.group("braced"))
        return self._filled(mapping, kws, missing, self._refuse)

    def safe_substitute(self, mapping=(), /, **kws):
        return self._filled(mapping, kws, lambda match: match.group(),
                            lambda match: match.group())

    def _found(self):
        for match in self.pattern.finditer(self.template):
            name = match.group("named") or match.group("braced")
            if name is None and match.group("invalid") is None \
                    and match.group("escaped") is None:
                raise self._unknown()
            yield name, match.group("invalid") is not None

    def is_valid(self):
        return not any(invalid for _, invalid in self._found())

    def get_identifiers(self):
        ids = []
        for name, _ in self._found():
            if name is not None and name not in ids:
                ids.append(name)
        return ids


def _compile_pattern(cls):
    """cls.pattern: the program's own, or one made of delimiter and names."""
    text = cls.__dict__.get("pattern")
    if text is None:
        sign = re.escape(cls.delimiter)
        braced = cls.braceidpattern or cls.idpattern
        text = (f"{sign}(?:(?P<escaped>{sign})|(?P<named>{cls.idpattern})"
                f"|{{(?P<braced>{braced})}}|(?P<invalid>))")
    cls.pattern = re.compile(text, cls.flags | re.VERBOSE)


_compile_pattern(Template)


def _split_field(text):
    """The name, spec and conversion of what stands between braces."""
    depth = 0
    for at, c in enumerate(text):
        depth = depth + (c == "[") - (c == "]")
        if depth == 0 and c in ":!":
            break
    else:
        return text, "", None
    name, rest = text[:at], text[at:]
    if rest[0] == ":":
        return name, rest[1:], None
    if len(rest) < 2:
        raise ValueError("end of string while looking for conversion "
                         "specifier")
    if len(rest) > 2 and rest[2] != ":":
        raise ValueError("expected ':' after conversion specifier")
    return name, rest[3:], rest[1]


def _field_end(text, at):
    """The place of the brace that closes a field; those in [] are a key's."""
    depth, in_key = 1, False
    while at < len(text):
        c = text[at]
        if c == "[":
            in_key = True
        elif c == "]":
            in_key = False
        elif not in_key and c in "{}":
            depth += 1 if c == "{" else -1
            if depth == 0:
                return at
        at += 1
    raise ValueError("expected '}' before end of string")


class Formatter:
    """str.format, each step of which a class below may change."""

    def format(self, format_string, /, *args, **kwargs):
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string, args, kwargs):
        used = set()
        text, _ = self._vformat(format_string, args, kwargs, used, 2)
        self.check_unused_args(used, args, kwargs)
        return text

    def _vformat(self, format_string, args, kwargs, used, depth, auto=0):
        """The text, and the number of the next field without a name, or False
        where fields have numbers."""
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        out = []
        for literal, name, spec, conversion in self.parse(format_string):
            if literal:
                out.append(literal)
            if name is None:
                continue
            name, auto = self._numbered(name, auto)
            value, first = self.get_field(name, args, kwargs)
            used.add(first)
            value = self.convert_field(value, conversion)
            spec, auto = self._vformat(spec, args, kwargs, used, depth - 1,
                                       auto)
            out.append(self.format_field(value, spec))
        return "".join(out), auto

    def _numbered(self, name, auto):
        if name == "":
            if auto is False:
                raise ValueError("cannot switch from manual field "
                                 "specification to automatic field numbering")
            return str(auto), auto + 1
        if name.isdigit():
            if auto:
                raise ValueError("cannot switch from manual field "
                                 "specification to automatic field numbering")
            return name, False
        return name, auto

    def parse(self, format_string):
        literal, at = "", 0
        while at < len(format_string):
            c = format_string[at]
            if c not in "{}":
                literal += c
                at += 1
            elif format_string[at + 1:at + 2] == c:
                yield literal + c, None, None, None
                literal, at = "", at + 2
            elif c == "}":
                raise ValueError("Single '}' encountered in format string")
            elif at + 1 == len(format_string):
                raise ValueError("Single '{' encountered in format string")
            else:
                end = _field_end(format_string, at + 1)
                name, spec, conversion = _split_field(
                    format_string[at + 1:end])
                yield literal, name, spec, conversion
                literal, at = "", end + 1
        if literal:
            yield literal, None, None, None

    def get_field(self, field_name, args, kwargs):
        first, steps = _steps_of(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in steps:
            value = getattr(value, key) if is_attribute else value[key]
        return value, first

    def get_value(self, key, args, kwargs):
        return args[key] if isinstance(key, int) else kwargs[key]

    def check_unused_args(self, used_args, args, kwargs):
        pass

    def format_field(self, value, format_spec):
        return format(value, format_spec)

    def convert_field(self, value, conversion):
        if conversion is None:
            return value
        made = {"s": str, "r": repr, "a": ascii}.get(conversion)
        if made is None:
            raise ValueError("Unknown conversion specifier "
                             + str(conversion))
        return made(value)


def _steps_of(name):
    """What a field's name begins with, and (True, attribute) or (False, key)
    for what stands behind it."""
    first = re.match(r"[^.\[]*", name).group()
    steps, at = [], len(first)
    while at < len(name):
        found = re.compile(r"\.([^.\[]+)|\[([^\]]+)\]").match(name, at)
        if not found:
            if re.compile(r"\.(?=[.\[]|$)|\[\]").match(name, at):
                raise ValueError("Empty attribute in format string")
            raise ValueError("Missing ']' in format string"
                             if name[at] == "[" else "Only '.' or '[' may "
                             "follow ']' in format field specifier")
        if found.group(1) is not None:
            steps.append((True, found.group(1)))
        else:
            key = found.group(2)
            steps.append((False, int(key) if key.isdigit() else key))
        at = found.end()
    return int(first) if first.isdigit() else first, steps


def capwords(s, sep=None):
    return (sep or " ").join(map(str.capitalize, s.split(sep)))
