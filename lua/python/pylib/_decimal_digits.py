# SPDX-License-Identifier: MIT
"""Powers, exponentials and logarithms of decimal, as whole numbers."""
import math as _math


def _exact_power(x, y, p):
    # x ** y where it is a number of few digits, or None.
    n, e = x._int, x._exp
    while n % 10 == 0:
        n, e = n // 10, e + 1
    up, down = y.as_integer_ratio()
    if down > 1:
        if e % down or down > 64:
            return None
        root = round(n ** (1 / down)) if n < 1 << 900 else None
        if root is None:
            return None
        near = [r for r in (root - 1, root, root + 1) if r ** down == n]
        if not near:
            return None
        n, e = near[0], e // down
    if up < 0:
        twos = fives = 0
        while n % 2 == 0:
            n, twos = n // 2, twos + 1
        while n % 5 == 0:
            n, fives = n // 5, fives + 1
        if n != 1:
            return None
        most = max(twos, fives) * -up
        if most > 4 * p + 400:
            return None
        n = 2 ** (most - twos * -up) * 5 ** (most - fives * -up)
        n, e = n, -e * -up - most
    elif up * len(str(n)) > 40 * p + 400:
        return None
    else:
        n, e = n ** up, e * up
    if len(str(n)) > p:
        return None
    if down == 1 and up < 0 or down > 1:
        # What is exact is shown with as many digits as there is room for
        # where the ideal exponent asks for it: whole powers alone have one.
        ideal = e - p if down > 1 else e
        while e > ideal and len(str(n)) < p:
            n, e = n * 10, e - 1
    return n, e


def _exp_digits(n, e, digits):
    # exp(n * 10^e) as a whole number of about that many digits.
    work = digits + 10 + max(0, len(str(abs(n))) + e)
    x = n * 10 ** (e + work) if e + work >= 0 else n // 10 ** -(e + work)
    one, (l10, le) = 10 ** work, _ln_digits(10, 0, work + 5)
    l10 = l10 * 10 ** (le + work) if le + work >= 0 else l10 // 10 ** -(
        le + work)
    k, x = divmod(x, l10)
    halved = 8 + work // 10
    one2 = one << 2 * halved
    x = (x << 2 * halved) >> halved
    total = term = one2
    i = 1
    while term:
        term = term * x // one2 // i
        total += term
        i += 1
    for _ in range(halved):
        total = total * total // one2
    return total >> 2 * halved, k - work


_LN_KEPT = {}


def _ln_digits(n, e, digits):
    # ln(n * 10^e) as a whole number times a power of ten.
    key = (n, e, digits)
    if key in _LN_KEPT:
        return _LN_KEPT[key]
    work = digits + 12 + len(str(abs(e)))
    top = len(str(n)) + e
    one = 10 ** work
    # n * 10^e = m * 10^top with m in [0.1, 1)
    shift = work - len(str(n))
    m = n * 10 ** shift if shift >= 0 else n // 10 ** -shift
    out = _ln_near(m, one)
    if top:
        out += top * _ln_ten(work)
    # A number close to 1 has a small logarithm: more digits of it.
    if len(str(abs(out))) < digits + 3 and (n, e) != (1, 0):
        more = digits + 3 - len(str(abs(out))) + work if out else 2 * work
        return _ln_digits_wide(n, e, more)
    if len(_LN_KEPT) < 64:
        _LN_KEPT[key] = (out, -work)
    return out, -work


def _ln_digits_wide(n, e, work):
    top = len(str(n)) + e
    shift = work - len(str(n))
    m = n * 10 ** shift if shift >= 0 else n // 10 ** -shift
    return _ln_near(m, 10 ** work) + top * _ln_ten(work), -work


def _ln_near(m, one):
    # ln(m / one): roots until it is close to 1, then a series of atanh.
    guard = 60
    one <<= guard
    m <<= guard
    turns = 0
    while abs(m - one) * 64 > one:
        m = _math.isqrt(m * one)
        turns += 1
    t = abs(m - one) * one // (m + one)
    square, total, power, i = t * t // one, 0, t, 1
    while power:
        total += power // i
        power = power * square // one
        i += 2
    out = 2 * total * 2 ** turns >> guard
    return -out if m < one else out


_TEN = {}


def _ln_ten(work):
    if work not in _TEN:
        one = 10 ** work
        _TEN[work] = -_ln_near(one // 10, one)
    return _TEN[work]
