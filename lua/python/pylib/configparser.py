# SPDX-License-Identifier: MIT
"""configparser: files of sections with options, and values that name others."""
import os as _os
import re as _re
from collections import ChainMap as _ChainMap
from collections.abc import MutableMapping as _Mapping

DEFAULTSECT = "DEFAULT"
MAX_INTERPOLATION_DEPTH = 10
_UNSET = object()


class Error(Exception):
    def __init__(self, msg=""):
        self.message = msg
        Exception.__init__(self, msg)

    def __repr__(self):
        return self.message

    __str__ = __repr__


class NoSectionError(Error):
    def __init__(self, section):
        Error.__init__(self, f"No section: {section!r}")
        self.section = section
        self.args = (section,)


class DuplicateSectionError(Error):
    def __init__(self, section, source=None, lineno=None):
        if source is None:
            text = f"Section {section!r} already exists"
        else:
            place = "" if lineno is None else f" [line {lineno:2d}]"
            text = (f"While reading from {source!r}{place}: section "
                    f"{section!r} already exists")
        Error.__init__(self, text)
        self.section, self.source, self.lineno = section, source, lineno
        self.args = (section, source, lineno)


class DuplicateOptionError(Error):
    def __init__(self, section, option, source=None, lineno=None):
        if source is None:
            text = (f"Option {option!r} in section {section!r} already "
                    "exists")
        else:
            place = "" if lineno is None else f" [line {lineno:2d}]"
            text = (f"While reading from {source!r}{place}: option "
                    f"{option!r} in section {section!r} already exists")
        Error.__init__(self, text)
        self.section, self.option = section, option
        self.source, self.lineno = source, lineno
        self.args = (section, option, source, lineno)


class NoOptionError(Error):
    def __init__(self, option, section):
        Error.__init__(self, f"No option {option!r} in section: {section!r}")
        self.option, self.section = option, section
        self.args = (option, section)


class InterpolationError(Error):
    def __init__(self, option, section, msg):
        Error.__init__(self, msg)
        self.option, self.section = option, section
        self.args = (option, section, msg)


class InterpolationMissingOptionError(InterpolationError):
    def __init__(self, option, section, rawval, reference):
        super().__init__(option, section,
                         f"Bad value substitution: option {option!r} in "
                         f"section {section!r} contains an interpolation key "
                         f"{reference!r} which is not a valid option name. "
                         f"Raw value: {rawval!r}")
        self.reference = reference
        self.args = (option, section, rawval, reference)


class InterpolationSyntaxError(InterpolationError):
    pass


class InterpolationDepthError(InterpolationError):
    def __init__(self, option, section, rawval):
        super().__init__(option, section,
                         "Recursion limit exceeded in value substitution: "
                         f"option {option!r} in section {section!r} contains "
                         "an interpolation key which cannot be substituted in "
                         f"{MAX_INTERPOLATION_DEPTH} steps. Raw value: "
                         f"{rawval!r}")
        self.args = (option, section, rawval)


class ParsingError(Error):
    def __init__(self, source):
        super().__init__(f"Source contains parsing errors: {source!r}")
        self.source, self.errors, self.args = source, [], (source,)

    def append(self, lineno, line):
        self.errors.append((lineno, line))
        self.message += f"\n\t[line {lineno:2d}]: {line}"


class MissingSectionHeaderError(ParsingError):
    def __init__(self, filename, lineno, line):
        Error.__init__(self, "File contains no section headers.\nfile: "
                       f"{filename!r}, line: {lineno}\n{line!r}")
        self.source, self.lineno, self.line = filename, lineno, line
        self.args = (filename, lineno, line)


class Interpolation:
    """Values are what is written."""

    def before_get(self, parser, section, option, value, defaults):
        return value

    def before_set(self, parser, section, option, value):
        return value

    def before_read(self, parser, section, option, value):
        return value

    def before_write(self, parser, section, option, value):
        return value


class _References(Interpolation):
    """What a sign and brackets name in a value is put in its place; the sign
    twice is the sign."""

    def before_get(self, parser, section, option, value, defaults):
        out = []
        self._put(parser, option, out, value, section, defaults, 1)
        return "".join(out)

    def before_set(self, parser, section, option, value):
        rest = self._name.sub("", value.replace(2 * self._sign, ""))
        if self._sign in rest:
            raise ValueError(f"invalid interpolation syntax in {value!r} at "
                             f"position {rest.find(self._sign)}")
        return value

    def _put(self, parser, option, out, rest, section, map, depth):
        sign = self._sign
        raw = parser.get(section, option, raw=True, fallback=rest)
        if depth > MAX_INTERPOLATION_DEPTH:
            raise InterpolationDepthError(option, section, raw)
        while rest:
            before, found, rest = rest.partition(sign)
            out.append(before)
            if not found:
                return
            if rest[:1] == sign:
                out.append(sign)
                rest = rest[1:]
                continue
            if rest[:1] != self._bracket:
                raise InterpolationSyntaxError(
                    option, section, f"{sign!r} must be followed by {sign!r} or "
                    f"{self._bracket!r}, found: {sign + rest!r}")
            m = self._name.match(sign + rest)
            if m is None:
                raise InterpolationSyntaxError(
                    option, section, "bad interpolation variable reference "
                    f"{sign + rest!r}")
            text, rest = sign + rest, rest[m.end() - 1:]
            value, *where = self._named(parser, option, section, map,
                                        m.group(1), raw, text)
            if sign in value:
                self._put(parser, where[0], out, value, *where[1:], depth + 1)
            else:
                out.append(value)


class BasicInterpolation(_References):
    """%(name)s in a value is the value of that option."""
    _sign, _bracket = "%", "("
    _name = _re.compile(r"%\(([^)]+)\)s")

    def _named(self, parser, option, section, map, path, raw, text):
        name = parser.optionxform(path)
        try:
            return map[name], option, section, map
        except KeyError:
            raise InterpolationMissingOptionError(
                option, section, raw, name) from None


class ExtendedInterpolation(_References):
    """${name} and ${section:name} in a value are values of options."""
    _sign, _bracket = "$", "{"
    _name = _re.compile(r"\$\{([^}]+)\}")

    def _named(self, parser, option, section, map, path, raw, text):
        path = path.split(":")
        if len(path) > 2:
            rest = text[self._name.match(text).end():]
            raise InterpolationSyntaxError(
                option, section, f"More than one ':' found: {rest!r}")
        its, name = section, parser.optionxform(path[-1])
        try:
            if len(path) == 1:
                value = map[name]
            else:
                its = path[0]
                value = parser.get(its, name, raw=True)
        except (KeyError, NoSectionError, NoOptionError):
            raise InterpolationMissingOptionError(
                option, section, raw, ":".join(path)) from None
        return value, name, its, dict(parser.items(its, raw=True))


class RawConfigParser(_Mapping):
    BOOLEAN_STATES = {"1": True, "yes": True, "true": True, "on": True,
                      "0": False, "no": False, "false": False, "off": False}
    SECTCRE = _re.compile(r"\[(?P<header>.+)\]")
    _DEFAULT_INTERPOLATION = Interpolation()

    def __init__(self, defaults=None, dict_type=dict, allow_no_value=False, *,
                 delimiters=("=", ":"), comment_prefixes=("#", ";"),
                 inline_comment_prefixes=None, strict=True,
                 empty_lines_in_values=True, default_section=DEFAULTSECT,
                 interpolation=_UNSET, converters={}):
        self._sections, self._defaults = dict_type(), dict_type()
        self._dict, self._allow_no_value = dict_type, allow_no_value
        self._delimiters, self._strict = tuple(delimiters), strict
        self._comments = tuple(comment_prefixes or ())
        self._inline = tuple(inline_comment_prefixes or ())
        self._empty_lines = empty_lines_in_values
        self.default_section = default_section
        if interpolation is _UNSET:
            interpolation = self._DEFAULT_INTERPOLATION
        elif interpolation is None:
            interpolation = Interpolation()
        self._interpolation = interpolation
        self.converters = {"int": int, "float": float,
                           "boolean": self._convert_to_boolean, **converters}
        for name, conv in converters.items():
            setattr(self, "get" + name, self._getter(conv))
        self._proxies = {default_section: SectionProxy(self, default_section)}
        if defaults:
            for key, value in dict(defaults).items():
                self._defaults[self.optionxform(key)] = (
                    None if value is None else str(value))

    def _getter(self, conv):
        def get(section, option, *, raw=False, vars=None, fallback=_UNSET,
                **kw):
            return self._get_conv(section, option, conv, raw=raw, vars=vars,
                                  fallback=fallback, **kw)
        return get

    def defaults(self):
        return self._defaults

    def sections(self):
        return list(self._sections)

    def add_section(self, section):
        self._check(section=section)
        if section == self.default_section:
            raise ValueError(f"Invalid section name: {section!r}")
        if section in self._sections:
            raise DuplicateSectionError(section)
        self._sections[section] = self._dict()
        self._proxies[section] = SectionProxy(self, section)

    def has_section(self, section):
        return section in self._sections

    def options(self, section):
        if section not in self._sections:
            raise NoSectionError(section)
        return list({**self._sections[section], **self._defaults})

    def optionxform(self, option):
        return option.lower()

    # ---- reading ----

    def read(self, filenames, encoding=None):
        if isinstance(filenames, (str, bytes, _os.PathLike)):
            filenames = [filenames]
        done = []
        for name in filenames:
            try:
                with open(name, encoding=encoding) as f:
                    self._read(f, name)
            except OSError:
                continue
            done.append(_os.fspath(name))
        return done

    def read_file(self, f, source=None):
        if source is None:
            source = getattr(f, "name", "<???>")
        self._read(f, source)

    def read_string(self, string, source="<string>"):
        self._read(string.splitlines(True), source)

    def read_dict(self, dictionary, source="<dict>"):
        seen = set()
        for section, options in dictionary.items():
            section = str(section)
            try:
                self.add_section(section)
            except (DuplicateSectionError, ValueError):
                if self._strict and section in seen:
                    raise
            seen.add(section)
            for key, value in options.items():
                key = self.optionxform(str(key))
                if value is not None:
                    value = str(value)
                if self._strict and (section, key) in seen:
                    raise DuplicateOptionError(section, key, source)
                seen.add((section, key))
                self.set(section, key, value)

    def _bare(self, line):
        # A line without its comments; was it a comment alone?
        cut = len(line)
        for prefix in self._inline:
            at = line.find(prefix)
            while at >= 0:
                if at == 0 or line[at - 1].isspace():
                    cut = min(cut, at)
                    break
                at = line.find(prefix, at + 1)
        for prefix in self._comments:
            if line.strip().startswith(prefix):
                return "", True
        return line[:cut].strip(), cut < len(line)

    def _read(self, lines, source):
        current, name, option, indent, error = None, None, None, 0, None
        seen = set()
        for lineno, line in enumerate(lines, start=1):
            value, comment = self._bare(line)
            if not value:
                if not self._empty_lines:
                    indent = 1 << 62
                elif not comment and current is not None and option \
                        and current[option] is not None:
                    current[option].append("")
                continue
            depth = len(line) - len(line.lstrip())
            if current is not None and option and depth > indent:
                if current[option] is None:
                    raise self._multiline(name, option, lineno)
                current[option].append(value)
                continue
            indent = depth
            head = self.SECTCRE.match(value)
            if head:
                name = head.group("header")
                if name in self._sections:
                    if self._strict and name in seen:
                        raise DuplicateSectionError(name, source, lineno)
                    current = self._sections[name]
                elif name == self.default_section:
                    current = self._defaults
                else:
                    current = self._sections[name] = self._dict()
                    self._proxies[name] = SectionProxy(self, name)
                seen.add(name)
                option = None
                continue
            if current is None:
                raise MissingSectionHeaderError(source, lineno, line)
            option, text = self._split(value)
            if not option or (text is None and not self._allow_no_value):
                error = error or ParsingError(source)
                error.append(lineno, repr(line))
                option = option and self.optionxform(option)
                if not option or option not in current:
                    option = None
                continue
            option = self.optionxform(option)
            if self._strict and (name, option) in seen:
                raise DuplicateOptionError(name, option, source, lineno)
            seen.add((name, option))
            current[option] = None if text is None else [text]
        self._join()
        if error:
            raise error

    def _split(self, text):
        at = -1
        for sign in self._delimiters:
            found = text.find(sign)
            if found >= 0 and (at < 0 or found < at):
                at, width = found, len(sign)
        if at < 0:
            return text, None
        return text[:at].rstrip(), text[at + width:].strip()

    def _join(self):
        for section, options in ((self.default_section, self._defaults),
                                 *self._sections.items()):
            for key, value in options.items():
                if isinstance(value, list):
                    value = "\n".join(value).rstrip()
                options[key] = self._interpolation.before_read(
                    self, section, key, value)

    # ---- asking ----

    def _names(self, section, vars):
        its = {}
        try:
            its = self._sections[section]
        except KeyError:
            if section != self.default_section:
                raise NoSectionError(section) from None
        given = {}
        if vars:
            for key, value in vars.items():
                given[self.optionxform(key)] = (
                    None if value is None else str(value))
        return _ChainMap(given, its, self._defaults)

    def get(self, section, option, *, raw=False, vars=None, fallback=_UNSET):
        try:
            names = self._names(section, vars)
        except NoSectionError:
            if fallback is _UNSET:
                raise
            return fallback
        option = self.optionxform(option)
        try:
            value = names[option]
        except KeyError:
            if fallback is _UNSET:
                raise NoOptionError(option, section) from None
            return fallback
        if raw or value is None:
            return value
        return self._interpolation.before_get(self, section, option, value,
                                              names)

    def _get_conv(self, section, option, conv, *, raw=False, vars=None,
                  fallback=_UNSET, **kw):
        try:
            return conv(self.get(section, option, raw=raw, vars=vars, **kw))
        except (NoSectionError, NoOptionError):
            if fallback is _UNSET:
                raise
            return fallback

    def getint(self, section, option, *, raw=False, vars=None,
               fallback=_UNSET, **kw):
        return self._get_conv(section, option, int, raw=raw, vars=vars,
                              fallback=fallback, **kw)

    def getfloat(self, section, option, *, raw=False, vars=None,
                 fallback=_UNSET, **kw):
        return self._get_conv(section, option, float, raw=raw, vars=vars,
                              fallback=fallback, **kw)

    def getboolean(self, section, option, *, raw=False, vars=None,
                   fallback=_UNSET, **kw):
        return self._get_conv(section, option, self._convert_to_boolean,
                              raw=raw, vars=vars, fallback=fallback, **kw)

    def _convert_to_boolean(self, value):
        if value.lower() not in self.BOOLEAN_STATES:
            raise ValueError("Not a boolean: %s" % value)
        return self.BOOLEAN_STATES[value.lower()]

    def items(self, section=_UNSET, raw=False, vars=None):
        if section is _UNSET:
            return super().items()
        d = dict(self._defaults)
        try:
            d.update(self._sections[section])
        except KeyError:
            if section != self.default_section:
                raise NoSectionError(section) from None
        keys = list(d)
        if vars:
            for key, value in vars.items():
                d[self.optionxform(key)] = value
        if raw:
            return [(k, d[k]) for k in keys]
        return [(k, self._interpolation.before_get(self, section, k, d[k], d))
                for k in keys]

    def has_option(self, section, option):
        option = self.optionxform(option)
        if not section or section == self.default_section:
            return option in self._defaults
        if section not in self._sections:
            return False
        return option in self._sections[section] or option in self._defaults

    # ---- changing ----

    def set(self, section, option, value=None):
        if value:
            value = self._interpolation.before_set(self, section, option,
                                                   value)
        if not section or section == self.default_section:
            its = self._defaults
        else:
            try:
                its = self._sections[section]
            except KeyError:
                raise NoSectionError(section) from None
        its[self.optionxform(option)] = value

    def remove_option(self, section, option):
        if not section or section == self.default_section:
            its = self._defaults
        else:
            try:
                its = self._sections[section]
            except KeyError:
                raise NoSectionError(section) from None
        option = self.optionxform(option)
        found = option in its
        if found:
            del its[option]
        return found

    def remove_section(self, section):
        found = section in self._sections
        if found:
            del self._sections[section], self._proxies[section]
        return found

    def popitem(self):
        for key in self.sections():
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def write(self, fp, space_around_delimiters=True):
        sign = self._delimiters[0]
        if space_around_delimiters:
            sign = f" {sign} "
        if self._defaults:
            self._write(fp, self.default_section, self._defaults, sign)
        for name, options in self._sections.items():
            self._write(fp, name, options, sign)

    def _write(self, fp, name, options, sign):
        fp.write(f"[{name}]\n")
        for key, value in options.items():
            value = self._interpolation.before_write(self, name, key, value)
            if value is not None or not self._allow_no_value:
                value = sign + str(value).replace("\n", "\n\t")
            else:
                value = ""
            fp.write(f"{key}{value}\n")
        fp.write("\n")

    def __contains__(self, key):
        return key == self.default_section or key in self._sections

    def __getitem__(self, key):
        if key not in self:
            raise KeyError(key)
        return self._proxies[key]

    def __setitem__(self, key, value):
        if key in self and value is self[key]:
            return
        options = self._defaults if key == self.default_section \
            else self._sections.get(key, {})
        options.clear()
        self.read_dict({key: value})

    def __delitem__(self, key):
        if key == self.default_section:
            raise ValueError("Cannot remove the default section.")
        if not self.remove_section(key):
            raise KeyError(key)

    def __len__(self):
        return len(self._sections) + 1

    def __iter__(self):
        yield self.default_section
        yield from self._sections

    def _check(self, *, section="", option="", value=""):
        pass


class ConfigParser(RawConfigParser):
    _DEFAULT_INTERPOLATION = BasicInterpolation()

    def _check(self, *, section="", option="", value=""):
        if not isinstance(section, str):
            raise TypeError("section names must be strings")
        if not isinstance(option, str):
            raise TypeError("option keys must be strings")
        if not (self._allow_no_value and value is None) \
                and not isinstance(value, str):
            raise TypeError("option values must be strings")

    def set(self, section, option, value=None):
        self._check(option=option, value=value)
        super().set(section, option, value)


class SectionProxy(_Mapping):
    """A section of a parser, as a mapping."""

    def __init__(self, parser, name):
        self._parser, self._name = parser, name

    def __repr__(self):
        return f"<Section: {self._name}>"

    def __getitem__(self, key):
        if not self._parser.has_option(self._name, key):
            raise KeyError(key)
        return self._parser.get(self._name, key)

    def __setitem__(self, key, value):
        self._parser._check(option=key, value=value)
        return self._parser.set(self._name, key, value)

    def __delitem__(self, key):
        if not (self._parser.has_option(self._name, key)
                and self._parser.remove_option(self._name, key)):
            raise KeyError(key)

    def __contains__(self, key):
        return self._parser.has_option(self._name, key)

    def _options(self):
        if self._name != self._parser.default_section:
            return self._parser.options(self._name)
        return list(self._parser.defaults())

    def __len__(self):
        return len(self._options())

    def __iter__(self):
        return iter(self._options())

    @property
    def parser(self):
        return self._parser

    @property
    def name(self):
        return self._name

    def get(self, option, fallback=None, *, raw=False, vars=None, **kw):
        return self._parser.get(self._name, option, raw=raw, vars=vars,
                                fallback=fallback, **kw)

    def getint(self, option, fallback=None, **kw):
        return self._parser.getint(self._name, option, fallback=fallback, **kw)

    def getfloat(self, option, fallback=None, **kw):
        return self._parser.getfloat(self._name, option, fallback=fallback,
                                     **kw)

    def getboolean(self, option, fallback=None, **kw):
        return self._parser.getboolean(self._name, option, fallback=fallback,
                                       **kw)

    def __getattr__(self, name):
        conv = self._parser.converters.get(name.removeprefix("get"))
        if not name.startswith("get") or conv is None:
            raise AttributeError(f"'SectionProxy' object has no attribute "
                                 f"'{name}'")
        return lambda option, fallback=None, **kw: self._parser._get_conv(
            self._name, option, conv, fallback=fallback, **kw)
