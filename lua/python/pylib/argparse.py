# SPDX-License-Identifier: MIT
"""Command lines of programs: options, positional arguments, commands."""
import _absent
import os
import sys

SUPPRESS = "==SUPPRESS=="
OPTIONAL = "?"
ZERO_OR_MORE = "*"
ONE_OR_MORE = "+"
REMAINDER = "..."


class HelpFormatter:
    pass


class RawDescriptionHelpFormatter(HelpFormatter):
    pass


class RawTextHelpFormatter(RawDescriptionHelpFormatter):
    pass


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    pass


class MetavarTypeHelpFormatter(HelpFormatter):
    pass


class ArgumentTypeError(Exception):
    pass


class ArgumentError(Exception):
    def __init__(self, argument, message):
        super().__init__(message)
        self.argument = argument
        self.message = message

    def __str__(self):
        if self.argument is None:
            return self.message
        return "argument %s: %s" % (_shown(self.argument), self.message)


def _shown(argument):
    if argument.option_strings:
        return "/".join(argument.option_strings)
    return argument.metavar or argument.dest


class Namespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __repr__(self):
        return "Namespace(" + ", ".join(
            "%s=%r" % (name, value)
            for name, value in vars(self).items()) + ")"

    def __eq__(self, other):
        return isinstance(other, Namespace) and vars(self) == vars(other)

    def __contains__(self, name):
        return name in vars(self)

    def _get_kwargs(self):
        return list(vars(self).items())

    def _get_args(self):
        return []


class BooleanOptionalAction:
    pass


class FileType:
    def __init__(self, mode="r", bufsize=-1, encoding=None, errors=None):
        self.mode = mode

    def __call__(self, path):
        return open(path, self.mode)


_ACTIONS = ("store", "store_const", "store_true", "store_false", "append",
            "append_const", "count", "extend", "help", "version")
_WITHOUT_VALUE = ("store_const", "store_true", "store_false", "append_const",
                  "count", "help", "version", "boolean")


class Action:
    """What a program's own action derives from: its __call__ is given the
    parser, the namespace, the values and the flag that was written."""

    def __init__(self, option_strings, dest, nargs=None, const=None,
                 default=None, type=None, choices=None, required=False,
                 help=None, metavar=None):
        self.option_strings = option_strings
        self.dest = dest
        self.nargs = nargs
        self.const = const
        self.default = default
        self.type = type
        self.choices = choices
        self.required = required
        self.help = help
        self.metavar = metavar

    def __call__(self, parser, namespace, values, option_string=None):
        raise NotImplementedError(".__call__() not defined")


def _is_own(action):
    return isinstance(action, type) and issubclass(action, Action)


_UNSAID = object()


class _Argument:
    """One argument: how it is written, and what it does to the namespace."""

    def __init__(self, flags, action="store", nargs=None, const=None,
                 default=_UNSAID, type=None, choices=None, required=None,
                 help=None, metavar=None, dest=None, version=None, **more):
        own = action if _is_own(action) else None
        action = "store" if own else action
        self.option_strings = [f for f in flags if f.startswith("-")]
        self.flags = flags
        if action is BooleanOptionalAction:
            action = "boolean"
            self.option_strings = self.option_strings + [
                "--no-" + f[2:] for f in self.option_strings
                if f.startswith("--")]
        elif action not in _ACTIONS or more and not own:
            raise _absent.error("argparse: the action %r is not part of "
                                "dtrepl" % (action,))
        self.action = action
        self.nargs = nargs
        self.const = const
        self.type = type
        self.choices = choices
        self.help = help
        self.metavar = metavar
        self.version = version
        self.commands = None
        # A switch that is given default=None is None until it is used; one
        # without a default is False or True.
        unsaid = default is _UNSAID
        default = None if unsaid else default
        if action == "store_true":
            self.const, default = True, False if unsaid else default
        elif action == "store_false":
            self.const, default = False, True if unsaid else default
        elif action in ("help", "version"):
            default = SUPPRESS
            if action == "version" and help is None:
                self.help = "show program's version number and exit"
        self.default = default
        self.dest = dest or self._name()
        if required is None:
            required = self.positional() and nargs not in ("?", "*", "...")
        self.required = required
        self.own = own and self._made_by(own, more)

    def _made_by(self, own, more):
        """The program's action for this argument, whose word is the last."""
        given = {"nargs": self.nargs, "const": self.const, "type": self.type,
                 "default": self.default, "choices": self.choices,
                 "help": self.help, "metavar": self.metavar}
        given = {name: v for name, v in given.items() if v is not None}
        if not self.positional() and self.required:
            given["required"] = True
        made = own(option_strings=self.option_strings, dest=self.dest,
                   **given, **more)
        for name in ("nargs", "const", "type", "default", "choices", "help",
                     "metavar", "dest"):
            setattr(self, name, getattr(made, name))
        return made

    def positional(self):
        return not self.option_strings

    def _name(self):
        if self.positional():
            return self.flags[0] if self.flags else None
        for flag in self.option_strings:
            if flag.startswith("--"):
                return flag[2:].replace("-", "_")
        return self.option_strings[0].lstrip("-").replace("-", "_")

    def takes_value(self):
        return self.action not in _WITHOUT_VALUE and self.nargs != 0

    def shown(self):
        return _shown(self)

    def placeholder(self):
        if isinstance(self.metavar, str):
            return self.metavar
        if self.choices is not None:
            return "{" + ",".join(str(c) for c in self.choices) + "}"
        return self.dest if self.positional() else self.dest.upper()

    def values_text(self):
        one = self.placeholder()
        if isinstance(self.metavar, tuple):
            if type(self.nargs) is int:
                return " ".join(self.metavar)
            one = self.metavar[0]
        if self.nargs is None:
            return one
        if self.nargs == "?":
            return "[%s]" % one
        if self.nargs == "*":
            return "[%s ...]" % one
        if self.nargs == "+":
            return "%s [%s ...]" % (one, one)
        if self.nargs == "...":
            return "..."
        return " ".join([one] * self.nargs)

    def heading(self):
        if self.positional():
            return self.placeholder()
        value = " " + self.values_text() if self.takes_value() else ""
        return ", ".join(f + value for f in self.option_strings)

    def usage(self):
        if self.positional():
            return self.values_text()
        if self.action == "boolean":
            text = " | ".join(self.option_strings)
        else:
            text = self.option_strings[0]
        if self.takes_value():
            text = text + " " + self.values_text()
        return text if self.required else "[%s]" % text

    def convert(self, text):
        if self.type is None:
            value = text
        else:
            try:
                value = self.type(text)
            except ArgumentTypeError as e:
                raise ArgumentError(self, str(e))
            except (TypeError, ValueError):
                name = getattr(self.type, "__name__", repr(self.type))
                raise ArgumentError(self, "invalid %s value: %r"
                                    % (name, text))
        if self.choices is not None and value not in self.choices:
            raise ArgumentError(self, "invalid choice: %r (choose from %s)" % (
                value, ", ".join(repr(c) for c in self.choices)))
        return value

    def default_of(self, given=None):
        value = self.default if given is None else given
        if isinstance(value, str) and value != SUPPRESS and self.type:
            return self.convert(value)
        return value


class _Group:
    """A titled group, or a group of which one may be given."""

    def __init__(self, parser, exclusive=False, required=False, title=None,
                 description=None):
        self.parser = parser
        self.title = title
        self.description = description
        self.exclusive = exclusive
        self.required = required
        self.members = []

    def add_argument(self, *flags, **kwargs):
        action = self.parser.add_argument(*flags, **kwargs)
        self.members.append(action)
        return action

    def add_mutually_exclusive_group(self, required=False):
        return self.parser.add_mutually_exclusive_group(required=required)


class _Commands:
    def __init__(self, parser, action, parser_class):
        self.parser = parser
        self.action = action
        self.parser_class = parser_class

    def add_parser(self, name, help=None, aliases=(), **kwargs):
        kwargs.setdefault("prog", self.parser.prog + " " + name)
        made = ArgumentParser(**kwargs)
        if help is not None:
            shown = name + (" (%s)" % ", ".join(aliases) if aliases else "")
            self.action.helps.append((shown, help))
        for word in [name] + list(aliases):
            self.action.commands[word] = made
        self.action.choices = list(self.action.commands)
        return made


class ArgumentParser:
    def __init__(self, prog=None, usage=None, description=None, epilog=None,
                 parents=(), formatter_class=HelpFormatter, prefix_chars="-",
                 fromfile_prefix_chars=None, argument_default=None,
                 conflict_handler="error", add_help=True, allow_abbrev=True,
                 exit_on_error=True):
        self.prog = prog or os.path.basename(sys.argv[0])
        self.usage = usage
        self.description = description
        self.epilog = epilog
        self.allow_abbrev = allow_abbrev
        self.formatter_class = formatter_class
        self.exit_on_error = exit_on_error
        self.argument_default = argument_default
        self._actions = []
        self._groups = []               # of which one may be given
        self._titled = []
        self._defaults = {}
        if add_help:
            self.add_argument("-h", "--help", action="help",
                              help="show this help message and exit")
        for parent in parents:
            self._actions.extend(a for a in parent._actions
                                 if a.action != "help")
            self._defaults.update(parent._defaults)

    # ---- what there is ----

    def add_argument(self, *flags, **kwargs):
        if "dest" in kwargs and not flags:
            flags = (kwargs.pop("dest"),)
        if "default" not in kwargs and self.argument_default is not None:
            kwargs["default"] = self.argument_default
        action = _Argument(list(flags), **kwargs)
        for flag in action.option_strings:
            if self._option(flag) is not None:
                raise ArgumentError(action, "conflicting option string: "
                                    + flag)
        self._actions.append(action)
        return action

    def add_argument_group(self, title=None, description=None):
        group = _Group(self, title=title, description=description)
        self._titled.append(group)
        return group

    def add_mutually_exclusive_group(self, required=False):
        group = _Group(self, True, required)
        self._groups.append(group)
        return group

    def add_subparsers(self, dest=None, required=False, help=None, title=None,
                       description=None, metavar=None, parser_class=None,
                       prog=None):
        action = _Argument([dest or "command"], metavar=metavar, help=help,
                        nargs=None)
        action.commands = {}
        action.helps = []           # of those that have one: (name, help)
        action.choices = []
        action.required = required
        action.dest = dest
        self._actions.append(action)
        if title is not None or description is not None:
            group = self.add_argument_group(
                "subcommands" if title is None else title, description)
            group.members.append(action)
        return _Commands(self, action, parser_class)

    def set_defaults(self, **kwargs):
        self._defaults.update(kwargs)
        for action in self._actions:
            if action.dest in kwargs:
                action.default = kwargs[action.dest]

    def get_default(self, dest):
        for action in self._actions:
            if action.dest == dest and action.default is not None:
                return action.default
        return self._defaults.get(dest)

    def _option(self, flag):
        for action in self._actions:
            if flag in action.option_strings:
                return action
        return None

    def _positionals(self):
        return [a for a in self._actions if a.positional()]

    # ---- reading ----

    def parse_args(self, args=None, namespace=None):
        namespace, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error("unrecognized arguments: " + " ".join(rest))
        return namespace

    def parse_known_args(self, args=None, namespace=None):
        args = list(sys.argv[1:] if args is None else args)
        namespace = Namespace() if namespace is None else namespace
        try:
            rest = self._read(args, namespace)
        except ArgumentError as e:
            if not self.exit_on_error:
                raise
            self.error(str(e))
        return namespace, rest

    def parse_intermixed_args(self, args=None, namespace=None):
        return self.parse_args(args, namespace)

    def _begin(self, namespace):
        for action in self._actions:
            if action.dest and action.default != SUPPRESS \
                    and not hasattr(namespace, action.dest):
                setattr(namespace, action.dest, action.default)
        for name, value in self._defaults.items():
            if not hasattr(namespace, name):
                setattr(namespace, name, value)

    def _looks_like_option(self, word):
        if not word.startswith("-") or word == "-":
            return False
        if self._option(word.split("=")[0]) is not None:
            return True
        try:
            float(word)
        except ValueError:
            return " " not in word
        return any(a.option_strings and a.option_strings[0][1:2].isdigit()
                   for a in self._actions)

    # The option a word names, the word's value behind "=" or None.
    def _named(self, word):
        action = self._option(word)
        if action is not None:
            return action, word, None
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
            value = value if equals else None
            action = self._option(flag)
            if action is None and self.allow_abbrev:
                fits = [f for a in self._actions for f in a.option_strings
                        if f.startswith(flag)]
                if len(fits) > 1:
                    raise ArgumentError(None, "ambiguous option: %s could "
                                        "match %s" % (word, ", ".join(fits)))
                if fits:
                    flag = fits[0]
                    action = self._option(flag)
            return action, flag, value
        action = self._option(word[:2])
        return action, word[:2], word[2:]

    def _read(self, args, namespace):
        self._begin(namespace)
        self._seen = []
        positionals = self._positionals()
        rest, at, only = [], 0, False
        while at < len(args):
            word = args[at]
            if word == "--" and not only:
                only = True
                at = at + 1
            elif not only and self._looks_like_option(word):
                at = self._read_option(args, at, namespace, rest)
            else:
                stop = at
                while stop < len(args) and (
                        only or args[stop] != "--"
                        and not self._looks_like_option(args[stop])):
                    stop = stop + 1
                used = self._read_positionals(positionals, args, at, stop,
                                              namespace, rest)
                if used is None:
                    return rest
                rest.extend(args[at + used:stop])
                at = max(stop, at + used)
        self._finish(positionals, namespace)
        return rest

    def _read_option(self, args, at, namespace, rest):
        word = args[at]
        action, flag, value = self._named(word)
        at = at + 1
        if action is None:
            rest.append(word)
            return at
        self._seen.append(action)
        if not action.takes_value():
            if value and not flag.startswith("--"):     # -vv, -xvf
                self._apply(action, flag, None, namespace)
                args.insert(at, "-" + value)
                return at
            if value is not None and value != "":
                raise ArgumentError(action, "ignored explicit argument %r"
                                    % value)
            self._apply(action, flag, None, namespace)
            return at
        if value is not None:
            values = [value[1:] if not flag.startswith("--")
                      and value.startswith("=") else value]
        else:
            most = self._most(action)
            values = []
            while at < len(args) and (most is None or len(values) < most) \
                    and (action.nargs == "..."
                         or not self._looks_like_option(args[at])):
                if args[at] == "--":
                    break
                values.append(args[at])
                at = at + 1
        self._check_count(action, values)
        self._apply(action, flag, values, namespace)
        return at

    def _most(self, action):
        if action.nargs in ("*", "+", "..."):
            return None
        return 1 if action.nargs in (None, "?") else action.nargs

    def _least(self, action):
        if action.commands is not None:
            return 1
        if action.nargs in ("?", "*", "..."):
            return 0
        return 1 if action.nargs in (None, "+") else action.nargs

    def _check_count(self, action, values):
        least = self._least(action)
        if len(values) >= least:
            return
        if action.nargs == "+":
            raise ArgumentError(action, "expected at least one argument")
        if action.nargs is None:
            raise ArgumentError(action, "expected one argument")
        raise ArgumentError(action, "expected %d argument%s" % (
            least, "" if least == 1 else "s"))

    def _read_positionals(self, positionals, args, at, stop, namespace, rest):
        used = 0
        while positionals and (used < stop - at
                               or self._least(positionals[0]) == 0):
            action = positionals[0]
            if action.commands is not None:
                positionals.pop(0)
                rest.extend(self._run_command(action, args[at + used:],
                                              namespace))
                return None
            left = stop - at - used - sum(self._least(p)
                                          for p in positionals[1:])
            most = self._most(action)
            n = left if most is None else min(left, most)
            if n < self._least(action):
                break
            positionals.pop(0)
            if action.nargs == "...":
                n = len(args) - at - used
            if n > 0:
                self._apply(action, None, args[at + used:at + used + n],
                            namespace)
                self._seen.append(action)
            used = used + n
        return used

    def _run_command(self, action, words, namespace):
        name = words[0]
        if name not in action.commands:
            raise ArgumentError(action if action.dest else None,
                                "invalid choice: %r (choose from %s)" % (
                                    name, ", ".join(repr(c) for c in
                                                    action.commands)))
        if action.dest:
            setattr(namespace, action.dest, name)
        self._seen.append(action)
        self._finish(self._positionals(), namespace)
        _, rest = action.commands[name].parse_known_args(words[1:], namespace)
        return rest

    def _apply(self, action, flag, values, namespace):
        kind = action.action
        if action.own is not None:
            value = [] if values is None else self._value(action, values)
            action.own(self, namespace, value, flag)
        elif kind == "help":
            self.print_help()
            self.exit()
        elif kind == "version":
            print((action.version or "").replace("%(prog)s", self.prog))
            self.exit()
        elif kind == "boolean":
            setattr(namespace, action.dest, not flag.startswith("--no-"))
        elif kind in ("store_const", "store_true", "store_false"):
            setattr(namespace, action.dest, action.const)
        elif kind == "count":
            now = getattr(namespace, action.dest, None) or 0
            setattr(namespace, action.dest, now + 1)
        elif kind == "append_const":
            self._append(namespace, action, [action.const])
        else:
            value = self._value(action, values)
            if kind == "append":
                self._append(namespace, action, [value])
            elif kind == "extend":
                self._append(namespace, action, value)
            else:
                setattr(namespace, action.dest, value)

    def _append(self, namespace, action, values):
        now = getattr(namespace, action.dest, None)
        setattr(namespace, action.dest, list(now or []) + list(values))

    def _value(self, action, values):
        if action.nargs is None:
            return action.convert(values[0])
        if action.nargs == "?":
            if values:
                return action.convert(values[0])
            value = action.default if action.positional() else action.const
            return action.default_of(value)
        if action.nargs == "*" and not values and action.positional():
            return [] if action.default is None else action.default
        return [action.convert(v) for v in values]

    def _finish(self, positionals, namespace):
        missing = []
        for action in self._actions:
            if action in self._seen:
                continue
            if action.required:
                missing.append(action.shown() if action.commands is None
                               else action.metavar or action.dest
                               or self._commands_head(action))
            elif action.positional() and action.nargs in ("*", "...") \
                    and action.default is None:
                setattr(namespace, action.dest, [])
            elif isinstance(action.default, str) and action.dest \
                    and getattr(namespace, action.dest, None) \
                    == action.default:
                value = action.default_of()
                if value != SUPPRESS:
                    setattr(namespace, action.dest, value)
        if missing:
            raise ArgumentError(None, "the following arguments are required: "
                                + ", ".join(missing))
        for group in self._groups:
            given = [a for a in group.members if a in self._seen]
            if len(given) > 1:
                raise ArgumentError(given[1], "not allowed with argument "
                                    + given[0].shown())
            if group.required and not given:
                raise ArgumentError(None, "one of the arguments %s is required"
                                    % " ".join(a.shown()
                                               for a in group.members))

    # ---- texts ----

    def format_usage(self):
        if self.usage:
            return "usage: " + self.usage.replace("%(prog)s", self.prog) + "\n"
        options = self._option_usages()
        words = [a.usage() if a.commands is None
                 else self._commands_head(a) + " ..."
                 for a in self._positionals()]
        start = "usage: " + self.prog
        line = " ".join([start] + options + words)
        if len(line) <= 78:
            return line + "\n"
        indent = " " * len(start)
        lines = []
        for parts in (options, words):
            line = indent if lines else start
            for word in parts:
                if len(line) + 1 + len(word) > 78 and line.strip() != "":
                    lines.append(line)
                    line = indent
                line = line + " " + word
            if parts:
                lines.append(line)
        return "\n".join(lines) + "\n"

    def _option_usages(self):
        out = []
        for a in self._actions:
            if a.positional() or a.help == SUPPRESS:
                continue
            group = [g for g in self._groups if a in g.members]
            if not group:
                out.append(a.usage())
            elif a is group[0].members[0]:
                text = " | ".join(m.usage().strip("[]")
                                  for m in group[0].members)
                out.append(("(%s)" if group[0].required else "[%s]") % text)
        return out

    def _commands_head(self, action):
        return action.metavar or "{%s}" % ",".join(action.commands)

    def _command_rows(self, action, width):
        """The commands that have a help, one a row below their list."""
        return [("    " + name).ljust(width) + text
                if len(name) + 6 <= width
                else "    " + name + "\n" + " " * width + text
                for name, text in action.helps]

    def _help_rows(self, actions, width):
        rows = []
        for a in actions:
            if a.help == SUPPRESS:
                continue
            head = a.heading()
            text = a.help or ""
            if self.formatter_class is ArgumentDefaultsHelpFormatter and text \
                    and "%(default)" not in text and a.default != SUPPRESS \
                    and (a.option_strings or a.nargs in ("?", "*")):
                text = text + " (default: %(default)s)"
            text = text.replace("%(default)s", str(a.default))
            text = text.replace("%(prog)s", self.prog).replace("%%", "%")
            if not text:
                rows.append("  " + head)
            elif len(head) + 4 > width:
                rows.append("  " + head + "\n" + " " * width + text)
            else:
                rows.append(("  " + head).ljust(width) + text)
            if a.commands is not None:
                rows.extend(self._command_rows(a, width))
        return rows

    def format_help(self):
        text = self.format_usage()
        if self.description:
            text = text + "\n" + self.description + "\n"
        own = [m for g in self._titled for m in g.members]
        options = [a for a in self._actions
                   if not a.positional() and a not in own]
        words = [a for a in self._positionals() if a not in own]
        heads = [len(a.heading()) for a in self._actions
                 if a.help != SUPPRESS]
        heads.extend(len(name) for a in self._actions
                     if a.commands is not None for name, _ in a.helps)
        width = min(24, max(heads + [0]) + 4)
        parts = [("positional arguments", None, words),
                 ("options", None, options)]
        parts.extend((g.title, g.description, g.members)
                     for g in self._titled)
        for title, about, actions in parts:
            rows = self._help_rows(actions, width)
            if about:
                rows.insert(0, "  " + about + "\n")
            if rows:
                text = text + "\n" + (title + ":\n" if title else "") \
                    + "\n".join(rows) + "\n"
        if self.epilog:
            text = text + "\n" + self.epilog + "\n"
        return text

    def print_usage(self, file=None):
        (file or sys.stdout).write(self.format_usage())

    def print_help(self, file=None):
        (file or sys.stdout).write(self.format_help())

    def exit(self, status=0, message=None):
        if message:
            sys.stderr.write(message)
        sys.exit(status)

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(2, "%s: error: %s\n" % (self.prog, message))
