# SPDX-License-Identifier: MIT
"""pprint: values over several lines, where one is too short."""


def _lines(v, indent, width, at):
    text = repr(v)
    if len(text) + at <= width or not v:
        return text
    pad = "\n" + " " * (at + indent)
    if type(v) is dict:
        parts = []
        for key in sorted(v, key=str):
            head = repr(key) + ": "
            parts.append(head + _lines(v[key], indent, width,
                                       at + indent + len(head)))
        return "{" + ("," + pad).join(parts) + "}"
    if type(v) in (list, tuple):
        parts = [_lines(x, indent, width, at + indent) for x in v]
        if type(v) is list:
            return "[" + ("," + pad).join(parts) + "]"
        return "(" + ("," + pad).join(parts) + ("," if len(v) == 1 else "") \
            + ")"
    return text


def pformat(object, indent=1, width=80, **other):
    return _lines(object, indent, width, 0)


def pprint(object, stream=None, indent=1, width=80, **other):
    print(_lines(object, indent, width, 0))


def pp(object, **other):
    pprint(object, **other)
