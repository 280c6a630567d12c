# SPDX-License-Identifier: MIT
"""html: texts that stand in a page."""
import _absent
import re

_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'",
          "nbsp": "\xa0", "copy": "\xa9", "reg": "\xae", "hellip": "\u2026",
          "mdash": "\u2014", "ndash": "\u2013", "lsquo": "\u2018",
          "rsquo": "\u2019", "ldquo": "\u201c", "rdquo": "\u201d",
          "times": "\xd7", "deg": "\xb0", "plusmn": "\xb1", "micro": "\xb5",
          "middot": "\xb7", "rarr": "\u2192", "larr": "\u2190", "le": "\u2264",
          "ge": "\u2265", "ne": "\u2260", "eacute": "\xe9", "euro": "\u20ac"}


def escape(s, quote=True):
    s = s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if quote:
        s = s.replace('"', "&quot;").replace("'", "&#x27;")
    return s


def _one(match):
    name = match.group(1)
    if name[0] == "#":
        digits = name[1:].rstrip(";")
        number = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
        if number == 0 or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
            return "\ufffd"
        return chr(number)
    plain = name.rstrip(";")
    if plain in _NAMED and (name.endswith(";")
                            or plain in ("amp", "lt", "gt", "quot")):
        return _NAMED[plain]
    if not name.endswith(";"):
        return match.group()
    raise _absent.error(f"html.unescape of &{name} is not part of dtrepl")


def unescape(s):
    if "&" not in s:
        return s
    return re.sub(r"&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*;?)",
                  _one, s)
