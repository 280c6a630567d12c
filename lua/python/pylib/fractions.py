# SPDX-License-Identifier: MIT
"""fractions: exact quotients of integers."""
import _absent
import math
import numbers
import re

_FORM = re.compile(r"\s*([-+]?)(\d+(?:_\d+)*)?(?:/(\d+(?:_\d+)*)|"
                   r"(?:\.(\d+(?:_\d+)*)?)?(?:[eE]([-+]?\d+(?:_\d+)*))?)\s*$")


class Fraction(numbers.Rational):
    __slots__ = ("_numerator", "_denominator")

    def __new__(cls, numerator=0, denominator=None, *, _normalize=True):
        self = super().__new__(cls)
        top, bottom = numerator, denominator
        if bottom is None:
            if type(top) is int:
                bottom = 1
            elif isinstance(top, Fraction):
                top, bottom = top._numerator, top._denominator
            elif isinstance(top, numbers.Rational):
                top, bottom = top.numerator, top.denominator
            elif isinstance(top, float) or type(top).__name__ == "Decimal":
                top, bottom = top.as_integer_ratio()
            elif isinstance(top, str):
                top, bottom = _of_text(top)
            else:
                raise TypeError("argument should be a string or a Rational "
                                "instance")
        elif not (isinstance(top, numbers.Rational)
                  and isinstance(bottom, numbers.Rational)):
            raise TypeError("both arguments should be Rational instances")
        else:
            top, bottom = (top.numerator * bottom.denominator,
                           bottom.numerator * top.denominator)
        if bottom == 0:
            raise ZeroDivisionError(f"Fraction({top}, 0)")
        shared = math.gcd(top, bottom)
        if bottom < 0:
            shared = -shared
        self._numerator, self._denominator = top // shared, bottom // shared
        return self

    @classmethod
    def from_float(cls, f):
        if isinstance(f, (int, float)):
            return cls(f)
        raise TypeError(f"{cls.__name__}.from_float() only takes floats, not "
                        f"{f!r} ({type(f).__name__})")

    @property
    def numerator(self):
        return self._numerator

    @property
    def denominator(self):
        return self._denominator

    def as_integer_ratio(self):
        return self._numerator, self._denominator

    def is_integer(self):
        return self._denominator == 1

    def limit_denominator(self, max_denominator=1000000):
        if max_denominator < 1:
            raise ValueError("max_denominator should be at least 1")
        if self._denominator <= max_denominator:
            return Fraction(self)
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self._numerator, self._denominator
        while True:
            a = n // d
            q2 = q0 + a * q1
            if q2 > max_denominator:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
            n, d = d, n - a * d
        k = (max_denominator - q0) // q1
        near, far = Fraction(p1, q1), Fraction(p0 + k * p1, q0 + k * q1)
        return near if abs(near - self) <= abs(far - self) else far

    def __repr__(self):
        return (f"{self.__class__.__name__}({self._numerator}, "
                f"{self._denominator})")

    def __str__(self):
        if self._denominator == 1:
            return str(self._numerator)
        return f"{self._numerator}/{self._denominator}"

    def __hash__(self):
        modulus = 2 ** 61 - 1
        if self._denominator % modulus == 0:
            out = 314159
        else:
            out = (abs(self._numerator) * pow(self._denominator, -1, modulus)
                   % modulus)
        out = out if self._numerator >= 0 else -out
        return -2 if out == -1 else out

    def __float__(self):
        return self._numerator / self._denominator

    def __bool__(self):
        return self._numerator != 0

    def __int__(self):
        return self.__trunc__()

    def __trunc__(self):
        if self._numerator < 0:
            return -(-self._numerator // self._denominator)
        return self._numerator // self._denominator

    def __floor__(self):
        return self._numerator // self._denominator

    def __ceil__(self):
        return -(-self._numerator // self._denominator)

    def __round__(self, ndigits=None):
        if ndigits is None:
            low, rest = divmod(self._numerator, self._denominator)
            twice = rest * 2
            if twice < self._denominator or (twice == self._denominator
                                             and low % 2 == 0):
                return low
            return low + 1
        shift = 10 ** abs(ndigits)
        if ndigits > 0:
            return Fraction(round(self * shift), shift)
        return Fraction(round(self / shift) * shift)

    def __neg__(self):
        return Fraction(-self._numerator, self._denominator)

    def __pos__(self):
        return Fraction(self._numerator, self._denominator)

    def __abs__(self):
        return Fraction(abs(self._numerator), self._denominator)

    def __add__(self, other):
        return _apply(self, other, lambda a, b: a + b, lambda a, b, c, d:
                      Fraction(a * d + c * b, b * d))

    def __radd__(self, other):
        return _apply(other, self, lambda a, b: a + b, lambda a, b, c, d:
                      Fraction(a * d + c * b, b * d))

    def __sub__(self, other):
        return _apply(self, other, lambda a, b: a - b, lambda a, b, c, d:
                      Fraction(a * d - c * b, b * d))

    def __rsub__(self, other):
        return _apply(other, self, lambda a, b: a - b, lambda a, b, c, d:
                      Fraction(a * d - c * b, b * d))

    def __mul__(self, other):
        return _apply(self, other, lambda a, b: a * b, lambda a, b, c, d:
                      Fraction(a * c, b * d))

    def __rmul__(self, other):
        return _apply(other, self, lambda a, b: a * b, lambda a, b, c, d:
                      Fraction(a * c, b * d))

    def __truediv__(self, other):
        return _apply(self, other, lambda a, b: a / b, _quotient)

    def __rtruediv__(self, other):
        return _apply(other, self, lambda a, b: a / b, _quotient)

    def __floordiv__(self, other):
        return _apply(self, other, lambda a, b: a // b, lambda a, b, c, d:
                      (a * d) // (b * c))

    def __rfloordiv__(self, other):
        return _apply(other, self, lambda a, b: a // b, lambda a, b, c, d:
                      (a * d) // (b * c))

    def __mod__(self, other):
        return _apply(self, other, lambda a, b: a % b, lambda a, b, c, d:
                      Fraction((a * d) % (c * b), b * d))

    def __rmod__(self, other):
        return _apply(other, self, lambda a, b: a % b, lambda a, b, c, d:
                      Fraction((a * d) % (c * b), b * d))

    def __divmod__(self, other):
        return self // other, self % other

    def __pow__(self, other):
        if not isinstance(other, numbers.Rational):
            return float(self) ** other
        if other.denominator != 1:
            return float(self) ** float(other)
        n = other.numerator
        if n >= 0:
            return Fraction(self._numerator ** n, self._denominator ** n)
        if self._numerator == 0:
            raise ZeroDivisionError(f"Fraction({self._denominator ** -n}, 0)")
        return Fraction(self._denominator ** -n, self._numerator ** -n)

    def __rpow__(self, other):
        if self._denominator == 1 and self._numerator >= 0:
            return other ** self._numerator
        if isinstance(other, numbers.Rational):
            return Fraction(other) ** self
        return other ** float(self)

    def __eq__(self, other):
        if isinstance(other, numbers.Rational):
            return (self._numerator == other.numerator
                    and self._denominator == other.denominator)
        if isinstance(other, float):
            if math.isnan(other) or math.isinf(other):
                return 0.0 == other
            return self == Fraction(other)
        return NotImplemented

    def _order(self, other, compare):
        if isinstance(other, numbers.Rational):
            return compare(self._numerator * other.denominator,
                           self._denominator * other.numerator)
        if isinstance(other, float):
            if math.isnan(other) or math.isinf(other):
                return compare(0.0, other)
            return self._order(Fraction(other), compare)
        return NotImplemented

    def __lt__(self, other):
        return self._order(other, lambda a, b: a < b)

    def __gt__(self, other):
        return self._order(other, lambda a, b: a > b)

    def __le__(self, other):
        return self._order(other, lambda a, b: a <= b)

    def __ge__(self, other):
        return self._order(other, lambda a, b: a >= b)

    @classmethod
    def from_decimal(cls, dec):
        from decimal import Decimal
        if isinstance(dec, numbers.Integral):
            return cls(int(dec))
        if not isinstance(dec, Decimal):
            raise TypeError(f"{cls.__name__}.from_decimal() only takes "
                            f"Decimals, not {dec!r} ({type(dec).__name__})")
        return cls(*dec.as_integer_ratio())

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _quotient(a, b, c, d):
    if c == 0:
        top = a // (math.gcd(a, c) or 1) * (d // math.gcd(d, b))
        raise ZeroDivisionError(f"Fraction({top}, 0)")
    return Fraction(a * d, b * c)


def _apply(a, b, plain, exact):
    if isinstance(a, float) or isinstance(b, float):
        return plain(float(a), float(b))
    if isinstance(a, complex) or isinstance(b, complex):
        raise _absent.error("a Fraction and a complex number together "
                            "are not part of dtrepl")
    if isinstance(a, numbers.Rational) and isinstance(b, numbers.Rational):
        return exact(a.numerator, a.denominator, b.numerator, b.denominator)
    return NotImplemented


def _of_text(text):
    m = _FORM.match(text)
    if m is None or m.group(2) is None and m.group(4) is None:
        raise ValueError(f"Invalid literal for Fraction: {text!r}")
    sign, whole, below, part, power = m.groups()
    top, bottom = int(whole or "0"), 1
    if below is not None:
        bottom = int(below)
    else:
        if part:
            part = part.replace("_", "")
            bottom = 10 ** len(part)
            top = top * bottom + int(part)
        if power and int(power) >= 0:
            top *= 10 ** int(power)
        elif power:
            bottom *= 10 ** -int(power)
    return (-top if sign == "-" else top), bottom
