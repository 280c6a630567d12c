# SPDX-License-Identifier: MIT
"""decimal's contexts: how many digits, how rounded, and what raises."""
import contextlib as _contextlib

import decimal as _decimal
from _decimal_signals import *
from _decimal_signals import _ORDER, _SIGNALS, _SHOWN, _ROUNDINGS


_RANGES = {"Emin": (MIN_EMIN, 0, "valid range for Emin is [MIN_EMIN, 0]"),
           "Emax": (0, MAX_EMAX, "valid range for Emax is [0, MAX_EMAX]"),
           "capitals": (0, 1, "valid values for capitals are 0 or 1"),
           "clamp": (0, 1, "valid values for clamp are 0 or 1")}


class Context:
    """How many digits a result has, how it is rounded, and what raises."""

    def __init__(self, prec=None, rounding=None, Emin=None, Emax=None,
                 capitals=None, clamp=None, flags=None, traps=None):
        d = DefaultContext if "DefaultContext" in globals() else None
        self.prec = prec if prec is not None else d.prec if d else 28
        self.rounding = (rounding if rounding is not None
                         else d.rounding if d else ROUND_HALF_EVEN)
        self.Emin = Emin if Emin is not None else d.Emin if d else -999999
        self.Emax = Emax if Emax is not None else d.Emax if d else 999999
        self.capitals = 1 if capitals is None else capitals
        self.clamp = 0 if clamp is None else clamp
        if traps is None:
            traps = d.traps if d else dict.fromkeys(_SHOWN, True)
        self.traps = _signals(traps)
        self.flags = _signals(flags or ())

    def __setattr__(self, name, value):
        if name == "prec" and not (isinstance(value, int)
                                   and 1 <= value <= MAX_PREC):
            raise (ValueError("valid range for prec is [1, MAX_PREC]")
                   if isinstance(value, int) else
                   TypeError("an integer is required"))
        if name == "rounding" and value not in _ROUNDINGS:
            raise TypeError("valid values for rounding are:\n  ["
                            + ", ".join(_ROUNDINGS) + "]")
        if name in _RANGES and not _RANGES[name][0] <= value <= _RANGES[name][1]:
            raise ValueError(_RANGES[name][2])
        object.__setattr__(self, name, value)

    def __repr__(self):
        flags = ", ".join(s.__name__ for s in _SIGNALS if self.flags[s])
        traps = ", ".join(s.__name__ for s in _SIGNALS if self.traps[s])
        return (f"Context(prec={self.prec}, rounding={self.rounding}, "
                f"Emin={self.Emin}, Emax={self.Emax}, "
                f"capitals={self.capitals}, clamp={self.clamp}, "
                f"flags=[{flags}], traps=[{traps}])")

    def copy(self):
        return Context(self.prec, self.rounding, self.Emin, self.Emax,
                       self.capitals, self.clamp, self.flags, self.traps)

    __copy__ = copy

    def clear_flags(self):
        self.flags = _signals(())

    def clear_traps(self):
        self.traps = _signals(())

    def Etiny(self):
        return self.Emin - self.prec + 1

    def Etop(self):
        return self.Emax - self.prec + 1

    def _raise(self, *names):
        # What is told is the list of what the operation met and is trapped.
        met = {(s if s in _SIGNALS else InvalidOperation): s for s in names}
        for kind in met:
            self.flags[kind] = True
        trapped = [kind for kind in _ORDER if kind in met and self.traps[kind]]
        if trapped:
            raise trapped[0]([met[kind] for kind in trapped])

    def create_decimal(self, num="0"):
        return _decimal.Decimal(num, self)._fix(self)

    def create_decimal_from_float(self, f):
        return _decimal.Decimal.from_float(f)._fix(self)

    def add(self, a, b):
        return _decimal._value(a)._add(_decimal._value(b), self)

    def subtract(self, a, b):
        return _decimal._value(a)._add(_decimal._value(b)._negated(), self)

    def multiply(self, a, b):
        return _decimal._value(a)._mul(_decimal._value(b), self)

    def divide(self, a, b):
        return _decimal._value(a)._div(_decimal._value(b), self)

    def power(self, a, b, modulo=None):
        a, b = _decimal._value(a), _decimal._value(b)
        if modulo is not None:
            return a._pow_modulo(b, _decimal._value(modulo), self)
        return a._pow(b, self)

    def quantize(self, a, b):
        return _decimal._value(a).quantize(_decimal._value(b), context=self)

    def sqrt(self, a):
        return _decimal._value(a).sqrt(self)

    def exp(self, a):
        return _decimal._value(a).exp(self)

    def ln(self, a):
        return _decimal._value(a).ln(self)

    def log10(self, a):
        return _decimal._value(a).log10(self)

    def abs(self, a):
        return _decimal._value(a)._copy_abs()._fix(self)

    def minus(self, a):
        return _decimal._value(a)._minus(self)

    def plus(self, a):
        return _decimal._value(a)._plus(self)

    def normalize(self, a):
        return _decimal._value(a).normalize(self)

    def compare(self, a, b):
        return _decimal._value(a).compare(_decimal._value(b), self)

    def to_sci_string(self, a):
        return _decimal._value(a)._text(self)


def _signals(given):
    if isinstance(given, dict):
        return {s: bool(given.get(s)) for s in _SIGNALS}
    return {s: s in given for s in _SIGNALS}


DefaultContext = Context()
BasicContext = Context(9, ROUND_HALF_UP, traps=[
    DivisionByZero, Overflow, InvalidOperation, Clamped, Underflow])
ExtendedContext = Context(9, ROUND_HALF_EVEN, traps=[])
_now = DefaultContext.copy()


def getcontext():
    return _now


def setcontext(context):
    global _now
    if context in (DefaultContext, BasicContext, ExtendedContext):
        context = context.copy()
        context.clear_flags()
    _now = context


@_contextlib.contextmanager
def localcontext(ctx=None, **given):
    ctx = (getcontext() if ctx is None else ctx).copy()
    for name, value in given.items():
        if name not in ("prec", "rounding", "Emin", "Emax", "capitals",
                        "clamp", "flags", "traps"):
            raise TypeError(f"'{name}' is an invalid keyword argument for "
                            "this function")
        setattr(ctx, name, _signals(value) if name in ("flags", "traps")
                else value)
    before = getcontext()
    setcontext(ctx)
    try:
        yield ctx
    finally:
        setcontext(before)
