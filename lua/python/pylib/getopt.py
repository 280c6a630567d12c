# SPDX-License-Identifier: MIT
"""getopt: options as C's getopt reads them."""


class GetoptError(Exception):
    def __init__(self, msg, opt=""):
        self.msg, self.opt = msg, opt
        Exception.__init__(self, msg, opt)

    def __str__(self):
        return self.msg


error = GetoptError


def _long(opts, text, longopts, args):
    name, equals, value = text.partition("=")
    found = [o for o in longopts if o.startswith(name)]
    if not found:
        raise GetoptError(f"option --{name} not recognized", name)
    exact = [o for o in found if o.rstrip("=") == name]
    if len(found) > 1 and not exact:
        raise GetoptError(f"option --{name} not a unique prefix", name)
    whole = exact[0] if exact else found[0]
    if whole.endswith("="):
        whole = whole[:-1]
        if not equals:
            if not args:
                raise GetoptError(f"option --{whole} requires argument", whole)
            value, args = args[0], args[1:]
    elif equals:
        raise GetoptError(f"option --{whole} must not have an argument", whole)
    opts.append(("--" + whole, value if equals or value else ""))
    return args


def _short(opts, text, shortopts, args):
    while text:
        letter, text = text[0], text[1:]
        at = shortopts.find(letter)
        if at < 0 or letter == ":":
            raise GetoptError(f"option -{letter} not recognized", letter)
        if not shortopts.startswith(":", at + 1):
            opts.append(("-" + letter, ""))
            continue
        if not text:
            if not args:
                raise GetoptError(f"option -{letter} requires argument",
                                  letter)
            text, args = args[0], args[1:]
        opts.append(("-" + letter, text))
        break
    return args


def _longs(longopts):
    return [longopts] if isinstance(longopts, str) else list(longopts)


def getopt(args, shortopts, longopts=[]):
    opts, longopts = [], _longs(longopts)
    while args and args[0].startswith("-") and args[0] != "-":
        if args[0] == "--":
            args = args[1:]
            break
        if args[0].startswith("--"):
            args = _long(opts, args[0][2:], longopts, args[1:])
        else:
            args = _short(opts, args[0][1:], shortopts, args[1:])
    return opts, args


def gnu_getopt(args, shortopts, longopts=[]):
    opts, rest, longopts = [], [], _longs(longopts)
    in_order = shortopts.startswith("+")
    shortopts = shortopts.lstrip("+")
    while args:
        if args[0] == "--":
            rest += args[1:]
            break
        if args[0][:2] == "--":
            args = _long(opts, args[0][2:], longopts, args[1:])
        elif args[0][:1] == "-" and args[0] != "-":
            args = _short(opts, args[0][1:], shortopts, args[1:])
        elif in_order:
            rest += args
            break
        else:
            rest.append(args[0])
            args = args[1:]
    return opts, rest
