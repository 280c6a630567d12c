# SPDX-License-Identifier: MIT
# numpy/_format.py: how NumPy 2 prints arrays: as many digits as all elements
# need, at most 8 after the point; columns of one width; the middle of more
# than 1,000 elements left out; lines of at most 75 columns.
import math
import torch

PRECISION, THRESHOLD, EDGE, WIDTH = 8, 1000, 3, 75


def shortest(x, size):
    """The fewest digits that mean this float of `size` bytes: repr() of it."""
    if size == 8 or x != x or x in (math.inf, -math.inf):
        return repr(x)
    kind = torch.float32 if size == 4 else torch.float16
    for digits in range(1, 10):
        text = "%.*g" % (digits, x)
        if torch.tensor(float(text), dtype=kind).item() == x:
            break
    return repr(float(text))


def split_digits(x, size):
    """The digits of |x| and the place of the point: "125", 1 is 1.25."""
    text = shortest(abs(x), size)
    mantissa, _, exponent = text.partition("e")
    whole, _, part = mantissa.partition(".")
    digits, point = whole + part, len(whole) + int(exponent or 0)
    lead = len(digits) - len(digits.lstrip("0"))
    digits, point = digits[lead:].rstrip("0"), point - lead
    return (digits, point) if digits else ("", 1)


def round_digits(digits, point, count):
    """The first `count` digits, rounded half to even."""
    if count < 0:
        return "", point
    if len(digits) <= count:
        return digits, point
    n, rest = int(digits[:count] or "0"), digits[count:]
    half = "5" + "0" * (len(rest) - 1)
    if rest > half or rest == half and n % 2 == 1:
        n += 1
    out = str(n).rjust(count, "0") if count else str(n) if n else ""
    return out.rstrip("0"), point + len(out) - count


def positional(x, size):
    """Left and right of the point: "1", "25"."""
    digits, point = split_digits(x, size)
    digits, point = round_digits(digits, point, point + PRECISION)
    if point <= 0:
        left, right = "0", "0" * -point + digits if digits else ""
    else:
        left, right = digits[:point].ljust(point, "0"), digits[point:]
    return ("-" if math.copysign(1, x) < 0 else "") + left, right


def scientific(x, size):
    digits, point = split_digits(x, size)
    digits, point = round_digits(digits, point, PRECISION + 1)
    digits = digits or "0"
    exponent = point - 1 if x else 0
    sign = "-" if math.copysign(1, x) < 0 else ""
    return sign + digits[0], digits[1:], "e%+03d" % exponent


def float_formatter(values, size):
    finite = [x for x in values if math.isfinite(x)]
    others = [_odd_name(x) for x in values if not math.isfinite(x)]
    sizes = [abs(x) for x in finite if x]
    wide = sizes and (max(sizes) >= 1e8 or min(sizes) < 1e-4
                      or max(sizes) / min(sizes) > 1000.0)
    split = scientific if wide else positional
    parts = [split(x, size) for x in finite]
    left = max([len(p[0]) for p in parts], default=0)
    right = max([len(p[1]) for p in parts], default=0)
    power = max([len(p[2]) for p in parts], default=0) if wide else 0
    total = left + 1 + right + power
    if others:
        longest = max(len(name) for name in others)
        left += max(0, longest - total)
        total = max(total, longest)

    def one(x):
        if not math.isfinite(x):
            return _odd_name(x).rjust(total)
        p = split(x, size)
        if wide:                # more digits than are needed are the exact ones
            mantissa, _, exponent = ("%.*e" % (right, x)).partition("e")
            digits = exponent[1:].rjust(power - 2, "0")
            point = "" if right else "."
            return mantissa.rjust(left + 1 + right - len(point)) + point \
                + "e" + exponent[0] + digits
        return p[0].rjust(left) + "." + p[1].ljust(right)
    return one


def _odd_name(x):
    return "nan" if x != x else "inf" if x > 0 else "-inf"


def complex_formatter(values, size):
    real = float_formatter([v.real for v in values], size // 2)
    imag = float_formatter([abs(v.imag) for v in values], size // 2)

    def one(v):
        sign = "-" if math.copysign(1, v.imag) < 0 else "+"
        part = imag(abs(v.imag)).strip()
        space = len(imag(abs(v.imag))) - len(part)
        return real(v.real) + sign + part + "j" + " " * space
    return one


def formatter(values, kind, size, ndim):
    if kind == "f":
        return float_formatter(values, size)
    if kind == "c":
        return complex_formatter(values, size)
    names = [str(v) for v in values]
    width = max([len(n) for n in names], default=0)
    if kind == "b":
        width = max(width, 5) if ndim else 0
    return lambda v: str(v).rjust(width)


def _leaves(nested, ndim, edge):
    if ndim == 0:
        return [nested]
    if edge and len(nested) > 2 * edge:
        nested = nested[:edge] + nested[-edge:]
    return [x for item in nested for x in _leaves(item, ndim - 1, edge)]


def _extend(text, line, word, width, indent):
    if len(line) + len(word) > width and len(line) > len(indent):
        text += line.rstrip() + "\n"
        line = indent
    return text, line + word


def _lines(nested, ndim, one, indent, width, edge, separator):
    if ndim == 0:
        return one(nested)
    inner, space = indent + " ", width - 1
    cut = edge and len(nested) > 2 * edge
    first = nested[:edge] if cut else nested[:-1]
    last = nested[-edge:-1] if cut else []
    if ndim == 1:
        text, line = "", inner
        for x in first:
            text, line = _extend(text, line, one(x), space, inner)
            line += separator
        if cut:
            text, line = _extend(text, line, "...", space, inner)
            line += separator
        for x in last:
            text, line = _extend(text, line, one(x), space, inner)
            line += separator
        text, line = _extend(text, line, one(nested[-1]), space, inner)
        text += line
        return "[" + text[len(inner):] + "]"
    joint = separator.rstrip() + "\n" * (ndim - 1)
    rows = [_lines(x, ndim - 1, one, inner, space, edge, separator) for x in first]
    if cut:
        rows.append("...")
    rows += [_lines(x, ndim - 1, one, inner, space, edge, separator)
             for x in last + [nested[-1]]]
    return "[" + (joint + inner).join(rows) + "]"


def array_text(nested, shape, kind, size, separator=" ", prefix=""):
    """What str() shows, or with separator ", " what repr() does."""
    count = 1
    for n in shape:
        count *= n
    if count == 0:
        return "[]"
    edge = EDGE if count > THRESHOLD else 0
    one = formatter(_leaves(nested, len(shape), edge), kind, size, len(shape))
    return _lines(nested, len(shape), one, " " * len(prefix), WIDTH, edge,
                  separator)
