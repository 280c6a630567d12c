# SPDX-License-Identifier: MIT
"""decimal: numbers of as many digits as the context says.  A number is a sign,
a whole number of digits and a power of ten; a special one says so in _exp:
"F" infinity, "n" nan, "N" signalling nan."""
import math as _math
import numbers as _numbers
import re as _re
from collections import namedtuple as _namedtuple

from _decimal_powers import _Powers
from _decimal_signals import *
from _decimal_signals import _ROUNDINGS, _round_up
from _decimal_context import (BasicContext, Context, DefaultContext,
                              ExtendedContext, getcontext, localcontext,
                              setcontext)

DecimalTuple = _namedtuple("DecimalTuple", "sign digits exponent",
                           module="decimal")
_ROUNDING_VALUES = """valid values for rounding are:
  [ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_DOWN,
   ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN,
   ROUND_05UP]"""
_NUMBER = _re.compile(r"([-+])?(?:(?=\d|\.\d)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?"
                      r"|inf(inity)?|(s?)nan(\d*))", _re.I)


class Decimal(_Powers):
    """A decimal number; it does not change."""
    __slots__ = ("_sign", "_int", "_exp")

    def __new__(cls, value="0", context=None):
        self = object.__new__(cls)
        if isinstance(value, str):
            return _read(self, value, context)
        if isinstance(value, Decimal):
            return _set(self, value._sign, value._int, value._exp)
        if isinstance(value, int):
            return _set(self, int(value < 0), abs(int(value)), 0)
        if isinstance(value, float):
            (context or getcontext())._raise_float()
            return _of_float(self, value)
        if isinstance(value, (tuple, list)):
            return _of_tuple(self, value)
        raise TypeError("conversion from " + type(value).__name__
                        + " to Decimal is not supported")

    @classmethod
    def from_float(cls, f):
        if isinstance(f, int):
            return cls(f)
        if not isinstance(f, float):
            raise TypeError("argument must be int or float")
        return _of_float(object.__new__(cls), f)

    # ---- what it is ----

    def is_nan(self):
        return self._exp in ("n", "N")

    def is_qnan(self):
        return self._exp == "n"

    def is_snan(self):
        return self._exp == "N"

    def is_infinite(self):
        return self._exp == "F"

    def is_finite(self):
        return isinstance(self._exp, int)

    def is_zero(self):
        return self.is_finite() and self._int == 0

    def is_signed(self):
        return self._sign == 1

    def is_canonical(self):
        return True

    def is_normal(self, context=None):
        return (self.is_finite() and self._int != 0
                and self.adjusted() >= (context or getcontext()).Emin)

    def is_subnormal(self, context=None):
        return (self.is_finite() and self._int != 0
                and self.adjusted() < (context or getcontext()).Emin)

    def __bool__(self):
        return not self.is_finite() or self._int != 0

    def adjusted(self):
        if not self.is_finite():
            return 0
        return self._exp + len(str(self._int)) - 1

    def as_tuple(self):
        if self._exp == "F":
            return DecimalTuple(self._sign, (0,), "F")
        digits = () if self.is_nan() and not self._int else tuple(
            int(c) for c in str(self._int))
        return DecimalTuple(self._sign, digits, self._exp)

    def as_integer_ratio(self):
        if not self.is_finite():
            if self.is_nan():
                raise ValueError("cannot convert NaN to integer ratio")
            raise OverflowError("cannot convert Infinity to integer ratio")
        n = -self._int if self._sign else self._int
        if self._exp >= 0:
            return n * 10 ** self._exp, 1
        d = 10 ** -self._exp
        g = _math.gcd(n, d)
        return n // g, d // g

    def __repr__(self):
        return f"Decimal('{self!s}')"

    def __str__(self):
        return self._text(getcontext())

    def _text(self, context, eng=False):
        sign = "-" if self._sign else ""
        if self._exp == "F":
            return sign + "Infinity"
        if self.is_nan():
            return (sign + ("sNaN" if self._exp == "N" else "NaN")
                    + (str(self._int) if self._int else ""))
        digits = str(self._int)
        left = self._exp + len(digits)
        if self._exp <= 0 and left > -6:
            dot = left
        elif not eng:
            dot = 1
        elif self._int == 0:
            dot = (left + 1) % 3 - 1
        else:
            dot = (left - 1) % 3 + 1
        if dot <= 0:
            whole, part = "0", "." + "0" * -dot + digits
        elif dot >= len(digits):
            whole, part = digits + "0" * (dot - len(digits)), ""
        else:
            whole, part = digits[:dot], "." + digits[dot:]
        e = "" if left == dot else ("E" if context.capitals else "e") \
            + f"{left - dot:+d}"
        return sign + whole + part + e

    def to_eng_string(self, context=None):
        return self._text(context or getcontext(), True)

    def __hash__(self):
        if self.is_snan():
            raise TypeError("Cannot hash a signaling NaN value")
        if self.is_nan():
            return object.__hash__(self)
        if self.is_infinite():
            return hash(-_math.inf if self._sign else _math.inf)
        if self._exp >= 0:
            power = pow(10, self._exp, _HASH)
        else:
            power = pow(_HASH_INVERSE, -self._exp, _HASH)
        h = self._int % _HASH * power % _HASH
        h = -h if self._sign else h
        return -2 if h == -1 else h

    def __int__(self):
        if self.is_nan():
            raise ValueError("cannot convert NaN to integer")
        if self.is_infinite():
            raise OverflowError("cannot convert Infinity to integer")
        n = self._shifted(0, ROUND_DOWN)[0]
        return -n if self._sign else n

    __trunc__ = __int__

    def __float__(self):
        if self.is_snan():
            raise ValueError("cannot convert signaling NaN to float")
        return float("-nan" if self._sign else "nan") if self.is_nan() \
            else float(str(self))

    def __complex__(self):
        return complex(float(self))

    def __floor__(self):
        return int(self.to_integral_value(ROUND_FLOOR))

    def __ceil__(self):
        return int(self.to_integral_value(ROUND_CEILING))

    def __round__(self, n=None):
        if n is None:
            return int(self.to_integral_value(ROUND_HALF_EVEN))
        return self.quantize(_make(0, 1, -n))

    @property
    def real(self):
        return self

    @property
    def imag(self):
        return Decimal(0)

    def conjugate(self):
        return self

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return type(self), (str(self),)

    # ---- order ----

    def _order(self, other):
        if not (self.is_finite() and other.is_finite()):
            return _rank(self) - _rank(other)
        a = -self._int if self._sign else self._int
        b = -other._int if other._sign else other._int
        low = min(self._exp, other._exp)
        if (a > 0) != (b > 0) or a == 0 or b == 0:
            return (a > 0) - (a < 0) - ((b > 0) - (b < 0))
        if self.adjusted() != other.adjusted():
            more = self.adjusted() > other.adjusted()
            return 1 if more == (a > 0) else -1
        a *= 10 ** (self._exp - low)
        b *= 10 ** (other._exp - low)
        return (a > b) - (a < b)

    def _compared(self, other, test, equality=False):
        other = _other(other, True)
        if other is NotImplemented:
            return other
        if self.is_nan() or other.is_nan():
            if not equality or self.is_snan() or other.is_snan():
                getcontext()._raise(InvalidOperation)
            return False
        return test(self._order(other))

    def __eq__(self, other):
        return self._compared(other, lambda c: c == 0, True)

    def __lt__(self, other):
        return self._compared(other, lambda c: c < 0)

    def __le__(self, other):
        return self._compared(other, lambda c: c <= 0)

    def __gt__(self, other):
        return self._compared(other, lambda c: c > 0)

    def __ge__(self, other):
        return self._compared(other, lambda c: c >= 0)

    def compare(self, other, context=None):
        other = _value(other)
        nan = self._nan(other, context or getcontext())
        if nan:
            return nan
        c = self._order(other)
        return Decimal((c > 0) - (c < 0))

    def compare_total(self, other, context=None):
        other = _value(other)
        if self._sign != other._sign:
            return Decimal(-1 if self._sign else 1)
        if self.is_nan() or other.is_nan():
            a, b = _nan_key(self), _nan_key(other)
        else:
            c = self._order(other)
            if c:
                return Decimal((c > 0) - (c < 0))
            a, b = (self._exp, other._exp) if self.is_finite() else (0, 0)
        c = (a > b) - (a < b)
        return Decimal(-c if self._sign else c)

    def max(self, other, context=None):
        return self._best(other, context, 1)

    def min(self, other, context=None):
        return self._best(other, context, -1)

    def _best(self, other, context, way):
        context, other = context or getcontext(), _value(other)
        if self.is_nan() or other.is_nan():
            if self.is_qnan() and not other.is_nan():
                return other._fix(context)
            if other.is_qnan() and not self.is_nan():
                return self._fix(context)
            return self._nan(other, context)
        c = self._order(other) or int(self.compare_total(other))
        return (self if c * way >= 0 else other)._fix(context)

    # ---- rounding ----

    def _fix(self, context):
        if not self.is_finite():
            return self
        digits = len(str(self._int)) if self._int else 1
        etiny, etop = context.Etiny(), context.Etop()
        if self._int == 0:
            e = min(max(self._exp, etiny),
                    etop if context.clamp else context.Emax)
            if e == self._exp:
                return self
            context._raise(Clamped)
            return _make(self._sign, 0, e)
        low = max(digits + self._exp - context.prec, etiny)
        if low > etop:
            return self._overflowed(context)
        tiny = low == etiny and self.adjusted() < context.Emin
        if self._exp >= low:
            if tiny:
                context._raise(Subnormal)
            if context.clamp and self._exp > etop:
                context._raise(Clamped)
                return _make(self._sign, self._int * 10 ** (self._exp - etop),
                             etop)
            return self
        n, exact = self._shifted(low, context.rounding)
        if len(str(n)) > context.prec:
            n, low = n // 10, low + 1
        if low > etop:
            return self._overflowed(context)
        found = [] if exact else [Inexact]
        if tiny:
            found = [Subnormal, *([] if exact else [Underflow]), *found]
        context._raise(*found, Rounded, *([] if n else [Clamped]))
        return _make(self._sign, n, low)

    def _overflowed(self, context):
        context._raise(Overflow, Inexact, Rounded)
        r = context.rounding
        if r in (ROUND_DOWN, ROUND_05UP) \
                or r == (ROUND_FLOOR, ROUND_CEILING)[self._sign]:
            return _make(self._sign, 10 ** context.prec - 1, context.Etop())
        return _make(self._sign, 0, "F")

    def _shifted(self, exp, rounding):
        # The digits at that power of ten, and are they exact?
        if not self._int:
            return 0, True
        if self._exp >= exp:
            return self._int * 10 ** (self._exp - exp), True
        if exp - self._exp > len(str(self._int)) + 1:
            q, r, half = 0, int(self._int != 0), 5
        else:
            unit = 10 ** (exp - self._exp)
            q, r = divmod(self._int, unit)
            half = unit // 2
        return q + bool(_round_up(rounding, self._sign, q, r, half)), r == 0

    def quantize(self, exp, rounding=None, context=None):
        context, exp = context or getcontext(), _value(exp)
        rounding = rounding or context.rounding
        if rounding not in _ROUNDINGS:
            raise TypeError(_ROUNDING_VALUES)
        nan = self._nan(exp, context)
        if nan:
            return nan
        if self.is_infinite() or exp.is_infinite():
            if self.is_infinite() and exp.is_infinite():
                return self
            context._raise(InvalidOperation)
            return _NAN
        if not context.Etiny() <= exp._exp <= context.Emax:
            context._raise(InvalidOperation)
            return _NAN
        if exp._exp < self._exp and self._int and len(str(self._int)) \
                + self._exp - exp._exp > context.prec:
            context._raise(InvalidOperation)
            return _NAN
        n, exact = self._shifted(exp._exp, rounding)
        if len(str(n)) > context.prec \
                or n and exp._exp + len(str(n)) - 1 > context.Emax:
            context._raise(InvalidOperation)
            return _NAN
        if self._exp < exp._exp:
            context._raise(*([] if exact else [Inexact]), Rounded)
        return _make(self._sign, n, exp._exp)

    def same_quantum(self, other, context=None):
        other = _value(other)
        if self.is_finite() and other.is_finite():
            return self._exp == other._exp
        return (self.is_nan() and other.is_nan()
                or self.is_infinite() and other.is_infinite())

    def to_integral_value(self, rounding=None, context=None):
        if not self.is_finite() or self._exp >= 0:
            return self
        n, _ = self._shifted(0, rounding or (context or getcontext()).rounding)
        return _make(self._sign, n, 0)

    to_integral = to_integral_value

    def to_integral_exact(self, rounding=None, context=None):
        context = context or getcontext()
        if not self.is_finite() or self._exp >= 0:
            return self
        n, exact = self._shifted(0, rounding or context.rounding)
        context._raise(*([] if exact else [Inexact]), Rounded)
        return _make(self._sign, n, 0)

    def normalize(self, context=None):
        context = context or getcontext()
        x = self._fix(context)
        if not x.is_finite():
            return x
        if x._int == 0:
            return _make(x._sign, 0, 0)
        n, e = x._int, x._exp
        while n % 10 == 0 and e < context.Emax:
            n, e = n // 10, e + 1
        return _make(x._sign, n, e)

    # ---- arithmetic ----

    def _nan(self, other, context):
        for x in (self, other):
            if x.is_snan():
                context._raise(InvalidOperation)
                return _make(x._sign, x._int, "n")
        for x in (self, other):
            if x.is_nan():
                return x
        return None

    def _invalid(self, context, kind=InvalidOperation):
        context._raise(kind)
        return _NAN

    def _negated(self):
        return _make(1 - self._sign, self._int, self._exp)

    def _copy_abs(self):
        return _make(0, self._int, self._exp)

    copy_abs = _copy_abs
    copy_negate = _negated

    def copy_sign(self, other, context=None):
        return _make(_value(other)._sign, self._int, self._exp)

    def canonical(self):
        return self

    def _plus(self, context):
        if self.is_zero() and context.rounding != ROUND_FLOOR:
            return self._copy_abs()._fix(context)
        return self._fix(context)

    def _minus(self, context):
        if self.is_zero() and context.rounding != ROUND_FLOOR:
            return self._copy_abs()._fix(context)
        if self.is_nan():
            return self._nan(self, context)
        return self._negated()._fix(context)

    def __pos__(self):
        return self._plus(getcontext())

    def __neg__(self):
        return self._minus(getcontext())

    def __abs__(self):
        return self._copy_abs()._fix(getcontext())

    def _add(self, other, context):
        nan = self._nan(other, context)
        if nan:
            return nan
        if self.is_infinite():
            if other.is_infinite() and self._sign != other._sign:
                return self._invalid(context)
            return self
        if other.is_infinite():
            return other
        exp = min(self._exp, other._exp)
        if not self._int and not other._int:
            sign = self._sign & other._sign
            if context.rounding == ROUND_FLOOR and self._sign != other._sign:
                sign = 1
            return _make(sign, 0, exp)._fix(context)
        a, b = self, other
        if a._int and b._int:
            a, b = _nearer(a, b, context.prec)
            exp = min(a._exp, b._exp)
        elif not a._int:
            exp = max(exp, b._exp - context.prec - 1)
            a = _make(a._sign, 0, exp)
        else:
            exp = max(exp, a._exp - context.prec - 1)
            b = _make(b._sign, 0, exp)
        n = (-1) ** a._sign * a._int * 10 ** (a._exp - exp) \
            + (-1) ** b._sign * b._int * 10 ** (b._exp - exp)
        sign = int(n < 0)
        if n == 0 and context.rounding == ROUND_FLOOR:
            sign = 1
        return _make(sign, abs(n), exp)._fix(context)

    def _mul(self, other, context):
        nan = self._nan(other, context)
        if nan:
            return nan
        sign = self._sign ^ other._sign
        if self.is_infinite() or other.is_infinite():
            if not (self and other):
                return self._invalid(context)
            return _make(sign, 0, "F")
        return _make(sign, self._int * other._int,
                     self._exp + other._exp)._fix(context)

    def _div(self, other, context):
        nan = self._nan(other, context)
        if nan:
            return nan
        sign = self._sign ^ other._sign
        if self.is_infinite():
            if other.is_infinite():
                return self._invalid(context)
            return _make(sign, 0, "F")
        if other.is_infinite():
            context._raise(Clamped)
            return _make(sign, 0, context.Etiny())
        if not other._int:
            if not self._int:
                return self._invalid(context, DivisionUndefined)
            context._raise(DivisionByZero)
            return _make(sign, 0, "F")
        if not self._int:
            return _make(sign, 0, self._exp - other._exp)._fix(context)
        shift = len(str(other._int)) - len(str(self._int)) + context.prec + 1
        exp = self._exp - other._exp - shift
        if shift >= 0:
            n, r = divmod(self._int * 10 ** shift, other._int)
        else:
            n, r = divmod(self._int, other._int * 10 ** -shift)
        if r:
            n += n % 5 == 0
        else:
            ideal = self._exp - other._exp
            while exp < ideal and n % 10 == 0:
                n, exp = n // 10, exp + 1
        return _make(sign, n, exp)._fix(context)

    def _divided(self, other, context):
        # The quotient to a whole number, and what is left of it.
        sign = self._sign ^ other._sign
        ideal = (self._exp if other.is_infinite()
                 else min(self._exp, other._exp))
        expdiff = self.adjusted() - other.adjusted()
        if not self._int or other.is_infinite() or expdiff <= -2:
            return (_make(sign, 0, 0),
                    _make(self._sign, *self._at(ideal))._fix(context))
        if expdiff <= context.prec:
            a = self._int * 10 ** max(self._exp - other._exp, 0)
            b = other._int * 10 ** max(other._exp - self._exp, 0)
            q, r = divmod(a, b)
            if q < 10 ** context.prec:
                return (_make(sign, q, 0),
                        _make(self._sign, r, ideal)._fix(context))
        nan = self._invalid(context, DivisionImpossible)
        return nan, nan

    def _at(self, exp):
        return self._shifted(exp, ROUND_HALF_EVEN)[0], exp

    def _whole(self, other, context, part):
        nan = self._nan(other, context)
        if nan:
            return nan
        sign = self._sign ^ other._sign
        if self.is_infinite():
            if part == 0 and not other.is_infinite():
                return _make(sign, 0, "F")
            return self._invalid(context)
        if not other:
            if part == 1:
                return self._invalid(context, InvalidOperation if self else
                                     DivisionUndefined)
            if not self:
                return self._invalid(context, DivisionUndefined)
            context._raise(DivisionByZero)
            return _make(sign, 0, "F")
        return self._divided(other, context)[part]

    def _parts(self, other, context):
        if self and self.is_finite() and other.is_zero():
            context._raise(InvalidOperation, DivisionByZero)
            return _make(self._sign ^ other._sign, 0, "F"), _NAN
        return self._whole(other, context, 0), self._whole(other, context, 1)


def _nearer(a, b, prec):
    # Of two numbers far apart the small one is as good as a digit behind.
    big, small = (a, b) if a._exp >= b._exp else (b, a)
    length = len(str(big._int))
    exp = big._exp + min(-1, length - prec - 2)
    if len(str(small._int)) + small._exp - 1 < exp:
        small = _make(small._sign, 1, exp)
    return big, small


_BUILTIN = (float, str, complex, list, tuple, dict, type(None))
_SIGN = {"add": "+", "sub": "-", "mul": "*", "truediv": "/",
         "floordiv": "//", "mod": "%", "divmod": "divmod()"}


def _operator(name, swapped):
    f = {"add": lambda a, b, c: a._add(b, c),
         "sub": lambda a, b, c: a._add(b._negated(), c) if not b.is_nan()
         else a._add(b, c),
         "mul": lambda a, b, c: a._mul(b, c),
         "truediv": lambda a, b, c: a._div(b, c),
         "floordiv": lambda a, b, c: a._whole(b, c, 0),
         "mod": lambda a, b, c: a._whole(b, c, 1),
         "divmod": lambda a, b, c: a._parts(b, c),
         }[name]

    def method(self, other):
        given, other = other, _other(other)
        if other is NotImplemented:
            if type(given) in _BUILTIN:
                names = ["decimal.Decimal", type(given).__name__]
                raise TypeError("unsupported operand type(s) for %s: '%s' and "
                                "'%s'" % (_SIGN[name], *(names[::-1] if swapped
                                                         else names)))
            return other
        if swapped:
            return f(other, self, getcontext())
        return f(self, other, getcontext())
    method.__name__ = f"__{'r' if swapped else ''}{name}__"
    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod"):
    setattr(Decimal, f"__{_name}__", _operator(_name, False))
    setattr(Decimal, f"__r{_name}__", _operator(_name, True))


def _set(self, sign, digits, exp):
    object.__setattr__(self, "_sign", sign)
    object.__setattr__(self, "_int", digits)
    object.__setattr__(self, "_exp", exp)
    return self


def _make(sign, digits, exp):
    return _set(object.__new__(Decimal), sign, digits, exp)


def _refuse_change(self, name, value):
    if name in ("_sign", "_int", "_exp"):
        raise AttributeError(f"attribute '{name}' is read-only")
    object.__setattr__(self, name, value)


Decimal.__setattr__ = _refuse_change


def _read(self, text, context):
    m = _NUMBER.fullmatch(text.strip().replace("_", ""))
    if m is None:
        (context or getcontext())._raise(ConversionSyntax)
        return _set(self, 0, 0, "n")
    sign = int(m[1] == "-")
    if m[2] is not None:
        part = m[3] or ""
        _set(self, sign, int(m[2] + part or "0"), int(m[4] or 0) - len(part))
        if MIN_ETINY <= self._exp and self.adjusted() <= MAX_EMAX:
            return self
        (context or getcontext())._raise(InvalidOperation)
        return _set(self, 0, 0, "n")
    if m[7] is None:
        return _set(self, sign, 0, "F")
    return _set(self, sign, int(m[7] or 0), "N" if m[6] else "n")


def _of_float(self, f):
    sign = int(_math.copysign(1.0, f) < 0)
    if f != f:
        return _set(self, sign, 0, "n")
    if _math.isinf(f):
        return _set(self, sign, 0, "F")
    up, down = abs(f).as_integer_ratio()
    k = down.bit_length() - 1
    return _set(self, sign, up * 5 ** k, -k)


def _of_tuple(self, value):
    if len(value) != 3:
        raise ValueError("argument must be a sequence of length 3")
    sign, digits, exp = value
    if sign not in (0, 1):
        raise ValueError("sign must be an integer with the value 0 or 1")
    if any(not isinstance(d, int) or not 0 <= d <= 9 for d in digits):
        raise ValueError("coefficient must be a tuple of digits")
    if exp == "F":
        return _set(self, sign, 0, "F")
    number = int("".join(map(str, digits)) or "0")
    if exp not in ("n", "N") and not isinstance(exp, int):
        raise ValueError("string argument in the third position must be 'F', "
                         "'n' or 'N'")
    return _set(self, sign, number, exp)


def _value(x):
    if isinstance(x, Decimal):
        return x
    if isinstance(x, int):
        return Decimal(x)
    raise TypeError(f"conversion from {type(x).__name__} to Decimal is not "
                    "supported")


def _other(x, compared=False):
    if isinstance(x, Decimal):
        return x
    if isinstance(x, int):
        return Decimal(x)
    if compared and isinstance(x, float):
        getcontext().flags[FloatOperation] = True
        return Decimal.from_float(x)
    return NotImplemented


def _raise_float(self):
    self.flags[FloatOperation] = True
    if self.traps[FloatOperation]:
        raise FloatOperation([FloatOperation])


Context._raise_float = _raise_float


def _rank(x):
    return (-2 if x._sign else 2) if x.is_infinite() else (
        0 if not x._int else -1 if x._sign else 1)


def _nan_key(x):
    return ({"n": 3, "N": 2}.get(x._exp, 1), x._int)


_NAN = _make(0, 0, "n")
_HASH = (1 << 61) - 1
_HASH_INVERSE = pow(10, _HASH - 2, _HASH)
from _decimal_format import _format             # noqa: E402

Decimal.__format__ = lambda self, spec, context=None: _format(self, spec)
Decimal.__module__ = Context.__module__ = "decimal"
_numbers.Number.register(Decimal)
