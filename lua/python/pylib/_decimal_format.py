# SPDX-License-Identifier: MIT
"""How decimal writes a number by a format."""
import re as _re

import decimal as _decimal

_SPEC = _re.compile(r"(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?(,)?"
                    r"(?:\.(\d+))?([eEfFgGn%])?", _re.S)


def _format(self, spec):
    m = _SPEC.fullmatch(spec)
    if m is None:
        raise ValueError("invalid format string")
    fill, align, plus, _, zero, width, comma, prec, kind = m.groups()
    if zero and not align:
        fill, align = "0", "="
    fill, align = fill or " ", align or ">"
    x, tail = self, ""
    sign = "-" if x._sign else plus if plus in ("+", " ") else ""
    if not x.is_finite():
        body = x._copy_abs()._text(_decimal.getcontext())
        if fill == "0" and zero:
            fill, align = " ", ">"
        tail = "%" if kind == "%" else ""
    else:
        x, body = _body(x, kind or "", prec, comma)
        if comma and zero and align == "=":
            body = _filled(body, int(width or 0) - len(sign))
    body += tail
    return _padded(sign, body, fill, align, int(width or 0))


def _body(x, kind, prec, comma):
    rounding = _decimal.getcontext().rounding
    if kind == "%":
        x = _decimal._make(x._sign, x._int, x._exp + 2)
    if prec is not None:
        n = int(prec)
        if kind in ("e", "E"):
            x = _cut(x, n + 1, rounding, True)
        elif kind in ("f", "F", "%"):
            x = _decimal._make(x._sign, x._shifted(-n, rounding)[0], -n)
        elif len(str(x._int)) > max(n, 1):
            x = _cut(x, max(n, 1), rounding, False)
    digits = str(x._int)
    if not x._int and prec is not None and kind in ("e", "E"):
        digits = "0" * (int(prec) + 1)
    if not x._int and x._exp > 0 and kind in ("f", "F", "%"):
        x = _decimal._make(x._sign, 0, 0)
    left = x._exp + len(digits)
    if kind in ("e", "E"):
        dot = 1
    elif kind in ("f", "F", "%"):
        dot = left
    else:
        dot = left if x._exp <= 0 and left > -6 else 1
    if dot < 0:
        whole, part = "0", "0" * -dot + digits
    elif dot > len(digits):
        whole, part = digits + "0" * (dot - len(digits)), ""
    else:
        whole, part = digits[:dot] or "0", digits[dot:]
    if comma:
        whole = f"{int(whole):{comma}}"
    e = left - dot
    text = whole + ("." + part if part else "")
    if e or kind in ("e", "E"):
        text += ("E" if kind in ("E", "G") or kind == "" else "e") + f"{e:+d}"
    return x, text + ("%" if kind == "%" else "")


def _cut(x, n, rounding, exact):
    if not x._int:
        return x
    exp = x.adjusted() + 1 - n
    if not exact and exp <= x._exp:
        return x
    d = x._shifted(exp, rounding)[0]
    if len(str(d)) > n:
        d, exp = d // 10, exp + 1
    return _decimal._make(x._sign, d, exp)


def _filled(body, width):
    # Zeros in front, in groups of three.
    n = next((i for i, c in enumerate(body) if c not in "0123456789,"),
             len(body))
    whole, rest = body[:n].replace(",", ""), body[n:]
    while len(body) < width:
        whole = "0" + whole
        head = len(whole) % 3 or 3
        body = ",".join([whole[:head], *(whole[i:i + 3] for i in range(
            head, len(whole), 3))]) + rest
    return body


def _padded(sign, body, fill, align, width):
    space = width - len(sign) - len(body)
    if space <= 0:
        return sign + body
    if align == "<":
        return sign + body + fill * space
    if align == ">":
        return fill * space + sign + body
    if align == "=":
        return sign + fill * space + body
    half = space // 2
    return fill * half + sign + body + fill * (space - half)
