# SPDX-License-Identifier: MIT
"""What decimal's numbers do beside the four operations."""
import math as _math

import _absent
import decimal as _decimal
from _decimal_context import Context, getcontext
from _decimal_digits import _exact_power, _exp_digits, _ln_digits
from _decimal_signals import *


class _Powers:
    """What Decimal is derived from."""
    __slots__ = ()

    def remainder_near(self, other, context=None):
        context, other = context or getcontext(), _decimal._value(other)
        nan = self._nan(other, context)
        if nan:
            return nan
        if self.is_infinite() or not other:
            return self._invalid(context)
        if other.is_infinite():
            return self._fix(context)
        if not self._int or self.adjusted() - other.adjusted() < -1:
            low = min(self._exp, other._exp)
            return _decimal._make(self._sign, *self._at(low))._fix(context)
        if self.adjusted() - other.adjusted() > context.prec:
            return self._invalid(context, DivisionImpossible)
        ideal = min(self._exp, other._exp)
        a, b = self._at(ideal)[0], other._at(ideal)[0]
        q, r = divmod(a, b)
        if 2 * r + (q & 1) > b:
            r, q = r - b, q + 1
        sign = self._sign
        if r < 0:
            sign, r = 1 - sign, -r
        return _decimal._make(sign, r, ideal)._fix(context)

    def fma(self, other, third, context=None):
        context = context or getcontext()
        other, third = _decimal._value(other), _decimal._value(third)
        wide = Context(MAX_PREC, traps=context.traps, Emin=MIN_EMIN,
                       Emax=MAX_EMAX)
        return self._mul(other, wide)._add(third, context)

    def scaleb(self, other, context=None):
        context, other = context or getcontext(), _decimal._value(other)
        if not self.is_finite():
            return self
        most = 2 * (context.Emax + context.prec)
        if other._exp != 0 or other._int > most:
            return self._invalid(context)
        moved = _decimal._make(self._sign, self._int, self._exp + int(other))
        return moved._fix(context)

    def logb(self, context=None):
        if not self._int and self.is_finite():
            (context or getcontext())._raise(DivisionByZero)
            return _decimal._make(1, 0, "F")
        return _decimal.Decimal(self.adjusted())

    def radix(self):
        return _decimal.Decimal(10)

    def _places(self, other, context):
        n, prec = int(other), context.prec
        if not -prec <= n <= prec:
            self._invalid(context)
            return None, prec
        return n, prec

    def shift(self, other, context=None):
        n, prec = self._places(other, context or getcontext())
        if n is None:
            return _decimal._NAN
        digits = str(self._int)
        digits = digits + "0" * n if n >= 0 else digits[:n] or "0"
        return _decimal._make(self._sign, int(digits[-prec:]), self._exp)

    def rotate(self, other, context=None):
        n, prec = self._places(other, context or getcontext())
        if n is None:
            return _decimal._NAN
        digits = str(self._int).rjust(prec, "0")[-prec:]
        n %= prec
        return _decimal._make(self._sign, int(digits[n:] + digits[:n]),
                              self._exp)

    def next_plus(self, context=None):
        return self._next(context, 0)

    def next_minus(self, context=None):
        return self._next(context, 1)

    def _next(self, context, sign):
        ctx = (context or getcontext()).copy()
        ctx.clear_traps()
        ctx.rounding = ROUND_FLOOR if sign else ROUND_CEILING
        if self.is_infinite():
            if self._sign == sign:
                return self
            return _decimal._make(self._sign, 10 ** ctx.prec - 1, ctx.Etop())
        moved = self._fix(ctx)
        if moved._order(self) != 0:
            return moved
        return self._add(_decimal._make(sign, 1, ctx.Etiny() - 1), ctx)

    # ---- roots, powers and logarithms ----

    def sqrt(self, context=None):
        context = context or getcontext()
        if self.is_nan():
            return self._nan(self, context)
        if self.is_infinite() and not self._sign:
            return self
        if not self._int and self.is_finite():
            return _decimal._make(self._sign, 0, self._exp // 2)._fix(context)
        if self._sign:
            return self._invalid(context)
        prec = context.prec + 1
        _limit(prec, 5000, "square root")
        n, e = self._int, self._exp
        length = len(str(n))
        if e & 1:
            n, half = n * 10, (length >> 1) + 1
        else:
            half = length + 1 >> 1
        e >>= 1
        shift = prec - half
        exact = True
        if shift >= 0:
            n *= 100 ** shift
        else:
            n, rest = divmod(n, 100 ** -shift)
            exact = not rest
        e -= shift
        root = _math.isqrt(n)
        if exact and root * root == n:
            if shift >= 0:
                root //= 10 ** shift
            else:
                root *= 10 ** -shift
            e += shift
        elif root % 5 == 0:
            root += 1
        return _decimal._make(0, root, e)._fix(_even(context))

    def exp(self, context=None):
        context = context or getcontext()
        if self.is_nan():
            return self._nan(self, context)
        if self.is_infinite():
            return _decimal._make(0, 0, 0) if self._sign else self
        if not self._int:
            return _decimal.Decimal(1)
        p = context.prec
        if self.adjusted() > len(str(context.Emax)) + 1:
            exp = context.Etiny() - 1 if self._sign else context.Emax + 1
            return _decimal._make(0, 1, exp)._fix(_even(context))
        if self.adjusted() < -p - 1:
            return _decimal._make(0, 10 ** (p + 1) + (-1 if self._sign else 1),
                         -p - 1)._fix(_even(context))
        n = -self._int if self._sign else self._int
        return _sure(lambda digits: _exp_digits(n, self._exp, digits), p,
                     context)

    def ln(self, context=None):
        context = context or getcontext()
        early = self._log_special(context)
        if early is not None:
            return early
        if self == 1:
            return _decimal.Decimal(0)
        return _sure(lambda digits: _ln_digits(self._int, self._exp, digits),
                     context.prec, context)

    def log10(self, context=None):
        context = context or getcontext()
        early = self._log_special(context)
        if early is not None:
            return early
        text = str(self._int)
        if text.rstrip("0") == "1":
            return _decimal.Decimal(self._exp + len(text) - 1)._fix(context)

        def found(digits):
            n, e = _ln_digits(self._int, self._exp, digits + 5)
            t, te = _ln_digits(10, 0, digits + 5)
            shift = digits + 3
            return n * 10 ** shift // t, e - te - shift
        return _sure(found, context.prec, context)

    def _log_special(self, context):
        if self.is_nan():
            return self._nan(self, context)
        if not self:
            return _decimal._make(1, 0, "F")
        if self._sign:
            return self._invalid(context)
        return self if self.is_infinite() else None

    def _pow(self, other, context):
        nan = self._nan(other, context)
        if nan:
            return nan
        if not other:
            return _decimal.Decimal(1) if self else self._invalid(context)
        whole = other.is_finite() and other == other.to_integral_value()
        sign = 0
        if self._sign:
            if whole:
                sign = int(other) & 1
            elif self:
                return self._invalid(context)
        x = self._copy_abs()
        if not x or x.is_infinite():
            small = bool(other._sign) == bool(x)
            return _decimal._make(sign, 0, 0 if small else "F")
        if x == 1 and whole:
            if other._sign == 0 and isinstance(other._exp, int):
                exp = max(x._exp * min(int(other), context.prec),
                          1 - context.prec)
                if exp < 0:
                    return _decimal._make(sign, 10 ** -exp, exp)
            return _decimal._make(sign, 1, 0)
        if other.is_infinite():
            large = (x.adjusted() >= 0) != bool(other._sign)
            return _decimal._make(0, 0, "F" if large else 0)
        return self._power(x, other, whole, sign, context)

    def _power(self, x, y, whole, sign, context):
        p = context.prec
        far = _out_of_range(x, y, context)
        if far is not None:
            return _decimal._make(sign, far._int, far._exp)._fix(context)
        if whole and not y._sign:
            k = int(y)
            if k * len(str(x._int)) <= 40 * p + 400:
                whole = _decimal._make(sign, x._int ** k, x._exp * k)
                return whole._fix(context)
        exact = _exact_power(x, y, p)
        if exact is not None:
            return _decimal._make(sign, *exact)._fix(context)

        def found(digits):
            n, e = _ln_digits(x._int, x._exp, digits + 15 + abs(y.adjusted()))
            m = n * (-y._int if y._sign else y._int)
            return _exp_digits(m, e + y._exp, digits)
        r = _sure(found, p, context)
        return _decimal._make(sign, r._int, r._exp)

    def _pow_modulo(self, other, modulo, context):
        # With the sign of the power, as a remainder of Decimal has it.
        nan = self._nan(other, context) or modulo._nan(modulo, context)
        if nan:
            return nan
        if not all(x.is_finite() and x == x.to_integral_value()
                   for x in (self, other, modulo)):
            return self._invalid(context)
        x, y, m = int(self), int(other), int(modulo)
        if y < 0 or not m or not (x or y) or abs(m) >= 10 ** context.prec:
            return self._invalid(context)
        return _decimal._make(1 if x < 0 and y & 1 else 0,
                              pow(abs(x), y, abs(m)), 0)

    def __pow__(self, other, modulo=None):
        other = _decimal._other(other)
        if other is NotImplemented:
            return other
        if modulo is not None:
            return self._pow_modulo(other, _decimal._value(modulo), getcontext())
        return self._pow(other, getcontext())

    def __rpow__(self, other):
        other = _decimal._other(other)
        return other if other is NotImplemented else other ** self


def _limit(prec, most, what):
    if prec > most:
        raise _absent.error(f"decimal: a {what} of more than {most} digits is "
                            "not part of dtrepl")


def _out_of_range(x, y, context):
    # x ** y where it is too large, too small or too close to 1 to be worked
    # out, as a number that rounds as it does; else None.
    top = x.adjusted()
    if -2 < top < 1:
        one = 10 ** -x._exp
        off = abs(x._int - one)
        if not off:
            return None
        least = most = len(str(off)) - len(str(one))
        least -= 1
    else:
        least, most = len(str(abs(top) - (top < 0))) - 1, len(str(abs(top) + 1))
    grows = (top >= 0) != bool(y._sign)
    if y.adjusted() + least > len(str(max(context.Emax, -context.Etiny()))):
        return _decimal._make(0, 1, context.Emax + 1 if grows
                              else context.Etiny() - 1)
    p = context.prec
    if y.adjusted() + most + 4 < -p - 1:
        return _decimal._make(0, 10 ** (p + 1) + (1 if grows else -1), -p - 1)
    return None


def _sure(found, prec, context):
    # Digits until rounding cannot go the other way.
    _limit(prec, 1000, "logarithm, exponential or root")
    digits = prec + 4
    while True:
        n, e = found(digits)
        text = str(abs(n))
        tail = text[prec:prec + digits - prec]
        if len(text) > prec + 3 and set(tail[1:3]) - {"0", "9"} \
                and tail[:3] not in ("500", "499"):
            break
        digits += 8
        if digits > prec + 80:
            break
    sign, n = int(n < 0), abs(n)
    if n % 5 == 0:
        n += 1
    return _decimal._make(sign, n, e)._fix(_even(context))


def _even(context):
    if context.rounding == ROUND_HALF_EVEN:
        return context
    c = context.copy()
    c.rounding, c.flags = ROUND_HALF_EVEN, context.flags
    return c
