# SPDX-License-Identifier: MIT
"""decimal's names for rounding and its signals."""
ROUND_DOWN, ROUND_HALF_UP = "ROUND_DOWN", "ROUND_HALF_UP"
ROUND_HALF_EVEN, ROUND_CEILING = "ROUND_HALF_EVEN", "ROUND_CEILING"
ROUND_FLOOR, ROUND_UP = "ROUND_FLOOR", "ROUND_UP"
ROUND_HALF_DOWN, ROUND_05UP = "ROUND_HALF_DOWN", "ROUND_05UP"
MAX_PREC = MAX_EMAX = 999999999999999999
MIN_EMIN, MIN_ETINY = -999999999999999999, -1999999999999999997
HAVE_THREADS = HAVE_CONTEXTVAR = True


class DecimalException(ArithmeticError):
    __module__ = "decimal"


class Clamped(DecimalException):
    __module__ = "decimal"


class InvalidOperation(DecimalException):
    __module__ = "decimal"


class ConversionSyntax(InvalidOperation):
    __module__ = "decimal"


class DivisionByZero(DecimalException, ZeroDivisionError):
    __module__ = "decimal"


class DivisionImpossible(InvalidOperation):
    __module__ = "decimal"


class DivisionUndefined(InvalidOperation, ZeroDivisionError):
    __module__ = "decimal"


class InvalidContext(InvalidOperation):
    __module__ = "decimal"


class Inexact(DecimalException):
    __module__ = "decimal"


class Rounded(DecimalException):
    __module__ = "decimal"


class Subnormal(DecimalException):
    __module__ = "decimal"


class Overflow(Inexact, Rounded):
    __module__ = "decimal"


class Underflow(Inexact, Rounded, Subnormal):
    __module__ = "decimal"


class FloatOperation(DecimalException, TypeError):
    __module__ = "decimal"


_SIGNALS = (Clamped, InvalidOperation, DivisionByZero, Inexact, FloatOperation,
            Overflow, Rounded, Subnormal, Underflow)
_ORDER = (InvalidOperation, FloatOperation, DivisionByZero, Overflow, Underflow,
          Subnormal, Inexact, Rounded, Clamped)
_SHOWN = (InvalidOperation, DivisionByZero, Overflow)
_ROUNDINGS = (ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP,
              ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_05UP)


def _round_up(kind, sign, q, r, half):
    # Does the whole number q with the rest r/(2*half) go up?
    if not r:
        return False
    if kind == ROUND_HALF_EVEN:
        return r > half or r == half and q & 1
    if kind == ROUND_HALF_UP:
        return r >= half
    if kind == ROUND_HALF_DOWN:
        return r > half
    if kind == ROUND_DOWN:
        return False
    if kind == ROUND_UP:
        return True
    if kind == ROUND_CEILING:
        return not sign
    if kind == ROUND_FLOOR:
        return bool(sign)
    return q % 5 == 0
